import { TranslationBundle } from '@jupyterlab/translation';
import {
  Attempt,
  Candidate,
  ExampleCall,
  Exploration,
  Observation,
  Progress,
  Step,
  TextParts,
  Usage
} from './protocol';

/** A sentence from the server in the user's language, if its template is translated. */
export function wordsOf(trans: TranslationBundle, parts: TextParts): string {
  const { template, values } = parts;
  // Without values, a template may have `%` signs that look like placeholders.
  const isKnown = values.length > 0 || (template !== '' && !template.includes('%'));
  // eslint-disable-next-line jupyter/no-dynamic-translation -- the sentences stand in the server
  return isKnown ? trans.__(template, ...values) : template;
}

/** An exploration's status, in a few words. */
export function statusWords(
  trans: TranslationBundle,
  exploration: Exploration,
  progress: Progress
): string {
  if (progress.activity === 'working') {
    return wordsOf(trans, progress.message_parts) || trans.__('Working');
  }
  switch (exploration.status) {
    case 'waiting':
      return waitingWords(trans, exploration);
    case 'solved':
      return trans.__('Solved and verified by your check');
    case 'unverified':
      return trans.__('Solved; no check has verified it');
    case 'failed':
      return trans.__('Not solved');
    case 'cancelled':
      return trans.__('Cancelled');
    default:
      return trans.__('Paused');
  }
}

function waitingWords(trans: TranslationBundle, exploration: Exploration): string {
  const open = nextOpen(exploration);
  if (!open) {
    return trans.__('All subtasks are decided: write the solution');
  }
  return open.status === 'review'
    ? trans.__('Your turn: review subtask %1', numberOf(exploration, open))
    : trans.__('Your turn: review the plan, then explore it');
}

/** The first step that is pending or in review. */
export function nextOpen(exploration: Exploration): Step | null {
  return exploration.steps.find(isOpen) ?? null;
}

/** Whether a step is pending or in review. */
export function isOpen(step: Step): boolean {
  return step.status === 'pending' || step.status === 'review';
}

/** A step's place in the plan, from 1. */
export function numberOf(exploration: Exploration, step: Step): number {
  const id = step.subtask.id;
  return exploration.steps.findIndex(one => one.subtask.id === id) + 1;
}

/** A subtask's status, in words. */
export function stepWords(trans: TranslationBundle, step: Step, isWorking: boolean): string {
  if (isWorking) {
    return trans.__('working');
  }
  switch (step.status) {
    case 'pending':
      return trans.__('open');
    case 'review':
      return trans.__('your turn');
    case 'done':
      return trans.__('done');
    case 'failed':
      return trans.__('nothing ran');
    case 'skipped':
      return trans.__('skipped');
  }
}

/** How a run ended, in words. */
export function runWords(trans: TranslationBundle, observation: Observation | null): string {
  switch (observation?.status) {
    case undefined:
      return trans.__('not run');
    case 'ok':
      return trans.__('ran');
    case 'error':
      return trans.__('failed');
    case 'timeout':
      return trans.__('took too long');
    case 'killed':
      return trans.__('its process died');
    case 'interrupted':
      return trans.__('interrupted');
    case 'limit':
      return trans.__('over a limit');
  }
}

/** Where a candidate comes from, in words. */
export function originWords(trans: TranslationBundle, candidate: Candidate): string {
  switch (candidate.origin) {
    case 'draft':
      return trans.__('drafted by the model');
    case 'debug':
      return trans.__('repaired by the model');
    case 'user':
      return trans.__('your own');
  }
}

/** Whether the solution was verified, and by what. */
export function verificationWords(trans: TranslationBundle, exploration: Exploration): string {
  const attempt = finalAttempt(exploration);
  if (!attempt) {
    return trans.__('There is no solution yet.');
  }
  if (attempt.observation.status !== 'ok') {
    return trans.__('Not solved: the code does not run.');
  }
  switch (attempt.checks) {
    case 'passed':
      return trans.__('Verified: it ran in a fresh state and the check passed.');
    case 'failed':
      return trans.__('Not solved: the code runs, but the check fails.');
    case 'none':
      return unverifiedWords(trans, attempt);
  }
}

function unverifiedWords(trans: TranslationBundle, { call, only_defines }: Attempt): string {
  if (!call && only_defines) {
    return trans.__(
      'Unverified: it ran in a fresh state, but what it defines was never called; no check was given.'
    );
  }
  if (!call) {
    return trans.__(
      'Unverified: it ran in a fresh state; no check was given, so nothing says that the result is right.'
    );
  }
  const failure = callFailure(call);
  return failure
    ? trans.__(
        'Unverified: it ran in a fresh state, but the call %1 failed: %2. No check was given.',
        call.called,
        failure
      )
    : trans.__(
        'Unverified: it ran in a fresh state, and the call %1 did, too; no check was given, so nothing says that the result is right.',
        call.called
      );
}

/** What went wrong with an example call; empty when nothing did. */
function callFailure({ observation }: ExampleCall): string {
  const { error, status, variables } = observation;
  if (status !== 'ok') {
    return error ? `${error.ename}: ${error.evalue}` : status;
  }
  return variables.find(one => one.preview_error)?.preview_error ?? '';
}

/**
 * The attempt that the exploration stands by: the last good one whose example call did not fail,
 * or else the last good one, or else the last.
 */
export function finalAttempt(exploration: Exploration): Attempt | null {
  const attempts = exploration.solution?.attempts ?? [];
  const good = attempts.filter(isGood);
  const best = good.filter(({ call }) => !call || !callFailure(call));
  return best[best.length - 1] ?? good[good.length - 1] ?? attempts[attempts.length - 1] ?? null;
}

/** Whether an attempt ran and no check failed. */
export function isGood(attempt: Attempt | null): attempt is Attempt {
  return attempt?.observation.status === 'ok' && attempt.checks !== 'failed';
}

/** The usage of all parts of an exploration. */
export function totalUsage(exploration: Exploration): Usage {
  const total: Usage = {
    calls: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    cached_tokens: 0,
    seconds: 0
  };
  for (const { usage } of exploration.spending) {
    total.calls += usage.calls;
    total.prompt_tokens += usage.prompt_tokens;
    total.completion_tokens += usage.completion_tokens;
    total.cached_tokens += usage.cached_tokens;
    total.seconds += usage.seconds;
  }
  return total;
}

/** A size in MB or GB. */
export function sizeInWords(trans: TranslationBundle, bytes: number): string {
  return bytes < 1e9
    ? trans.__('%1 MB', (bytes / 1e6).toFixed(0))
    : trans.__('%1 GB', (bytes / 1e9).toFixed(1));
}

/** Prices of a million tokens, in the user's currency; null when none is set. */
export interface IPrices {
  readonly prompt: number;
  readonly completion: number;
}

/** What the tokens cost. */
export function money(usage: Usage, prices: IPrices): number {
  const { completion, prompt } = prices;
  return (usage.prompt_tokens * prompt + usage.completion_tokens * completion) / 1e6;
}
