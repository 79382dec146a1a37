import { TranslationBundle } from '@jupyterlab/translation';
import { Step } from '../protocol';
import { IExplorationModel } from '../tokens';
import { numberOf, runWords, wordsOf } from '../wording';
import { stepOf } from './candidatepreview';

/** What the strip above a subtask's cell shows. */
export interface IStepView {
  subtask: string;
  /** "Subtask 2: goal", for users who cannot see where the buttons are. */
  description: string;
  /** The cell's state, in words and for styling. */
  state: { words: string; kind: StateKind };
  /** The shown candidate, and its place among them all; 0 if none is shown. */
  candidate: string | null;
  place: number;
  count: number;
  previous: string | null;
  next: string | null;
  isEdited: boolean;
}

type Situation = Pick<IExplorationModel, 'exploration' | 'progress'>;

export type StateKind =
  'open' | 'working' | 'proposed' | 'accepted' | 'failed' | 'skipped' | 'edited';

/** The view of a subtask's cell; null if the exploration no longer has the subtask. */
export function stepView(
  trans: TranslationBundle,
  situation: Situation,
  subtask: string,
  shown: string | null,
  isEdited: boolean
): IStepView | null {
  const step = stepOf(situation.exploration, subtask);
  if (!step) {
    return null;
  }
  const ids = step.candidates.map(one => one.id);
  const place = shown === null ? -1 : ids.indexOf(shown);
  const number = numberOf(situation.exploration, step);
  return {
    subtask,
    description: trans.__('Subtask %1: %2', number, step.subtask.goal),
    state: stateOf(trans, situation, step, shown, isEdited),
    candidate: shown,
    place: place + 1,
    count: ids.length,
    previous: place > 0 && !isEdited ? ids[place - 1] : null,
    next: !isEdited ? (ids[place + 1] ?? null) : null,
    isEdited
  };
}

function stateOf(
  trans: TranslationBundle,
  { exploration, progress }: Situation,
  step: Step,
  shown: string | null,
  isEdited: boolean
): { words: string; kind: StateKind } {
  if (isEdited) {
    return { words: trans.__('edited, not run'), kind: 'edited' };
  }
  if (progress.activity === 'working' && progress.part === step.subtask.id) {
    return {
      words: wordsOf(trans, progress.message_parts) || trans.__('working'),
      kind: 'working'
    };
  }
  if (shown !== step.chosen) {
    const candidate = step.candidates.find(one => one.id === shown);
    const words = runWords(trans, candidate?.observation ?? null);
    return { words: trans.__('not chosen: %1', words), kind: 'open' };
  }
  return restingState(trans, step, exploration.is_planned);
}

function restingState(
  trans: TranslationBundle,
  step: Step,
  isPlanned: boolean
): { words: string; kind: StateKind } {
  switch (step.status) {
    case 'review':
      return step.chosen === null
        ? { words: trans.__('no candidate ran'), kind: 'failed' }
        : { words: trans.__('proposed'), kind: 'proposed' };
    case 'done':
      return { words: trans.__('accepted'), kind: 'accepted' };
    case 'failed':
      return { words: trans.__('failed'), kind: 'failed' };
    case 'skipped':
      return { words: trans.__('skipped'), kind: 'skipped' };
    case 'pending':
      return { words: pendingWords(trans, step, isPlanned), kind: 'open' };
  }
}

function pendingWords(trans: TranslationBundle, step: Step, isPlanned: boolean): string {
  if (step.candidates.find(one => one.id === step.chosen)?.observation === null) {
    return trans.__('written, not run');
  }
  return isPlanned ? trans.__('not explored yet') : trans.__('planned');
}
