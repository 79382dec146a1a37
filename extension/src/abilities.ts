import { Candidate, Exploration, Progress, Step } from './protocol';
import { finalAttempt, isGood, isOpen, nextOpen } from './wording';

/** What a person may ask of an exploration or of one of its steps. */
export type Action =
  | 'accept'
  | 'debug'
  | 'draft'
  | 'go-back'
  | 'skip'
  | 'replan'
  | 'synthesize'
  | 'insert'
  | 'cancel'
  | 'go-on';

/** As much of an exploration as one needs to say what can be done. */
export interface ISituation {
  exploration: Exploration;
  progress: Progress;
  isOpen: boolean;
}

/** Whether the server is going to take an action now. */
export function allows(
  situation: ISituation,
  action: Action,
  subtask: string | null = null,
  candidate: string | null = null
): boolean {
  const { exploration, progress } = situation;
  if (action === 'insert') {
    return isGood(finalAttempt(exploration));
  }
  if (!situation.isOpen || action === 'cancel') {
    return situation.isOpen && progress.activity === 'working';
  }
  if (progress.activity === 'working') {
    return false;
  }
  switch (action) {
    case 'synthesize':
      return exploration.steps.some(step => step.status === 'done');
    case 'go-on':
      return !exploration.is_planned || nextOpen(exploration) !== null || !exploration.solution;
    default:
      return allowsStep(exploration, action, subtask, candidate);
  }
}

function allowsStep(
  exploration: Exploration,
  action: Action,
  subtask: string | null,
  candidate: string | null
): boolean {
  const step = exploration.steps.find(one => one.subtask.id === subtask);
  if (!step) {
    return false;
  }
  const isFirst = !isOpen(step) || nextOpen(exploration)?.subtask.id === subtask;
  const named = candidateOf(step, candidate);
  switch (action) {
    case 'accept':
      return isFirst && ran(named) && !(step.status === 'done' && step.chosen === named?.id);
    case 'debug':
      return isFirst && named !== undefined;
    case 'draft':
      return isFirst;
    case 'go-back':
      return step.status !== 'pending' && step.status !== 'review';
    case 'skip':
      return step.status !== 'skipped';
    case 'replan':
      return step.status !== 'done';
    default:
      return false;
  }
}

/** The step that waits for the user's review. */
export function inReview(exploration: Exploration): Step | null {
  const step = nextOpen(exploration);
  return step?.status === 'review' ? step : null;
}

/** A candidate by its id; the chosen one when none is named. */
export function candidateOf(step: Step, candidate: string | null): Candidate | undefined {
  const id = candidate ?? step.chosen;
  return step.candidates.find(one => one.id === id);
}

/** Whether a candidate was run and came to its end. */
export function ran(candidate: Candidate | undefined): boolean {
  return candidate?.observation?.status === 'ok';
}
