import { TranslationBundle } from '@jupyterlab/translation';
import { Step, Summary } from './protocol';
import { IExplorationModel } from './tokens';

/** An exploration's state, as the list shows it. */
export type EntryState = 'turn' | 'working' | 'solved' | 'failed' | 'resting' | 'saved';

/** An exploration in the full list. */
export interface IEntry {
  readonly summary: Summary;
  readonly state: EntryState;
  /** The number of its subtasks that are done, and of all. */
  readonly done: number;
  readonly steps: number;
}

const FIRST: EntryState[] = ['turn', 'working'];

/** All explorations: first those waiting for the user, then those working, then the newest. */
export function entriesOf(
  summaries: ReadonlyArray<Summary>,
  open: ReadonlyMap<string, IExplorationModel>
): IEntry[] {
  const entries = summaries.map(summary => entryOf(summary, open.get(summary.id)));
  return [
    ...FIRST.flatMap(state => entries.filter(entry => entry.state === state)),
    ...entries.filter(entry => !FIRST.includes(entry.state))
  ];
}

/** Entries whose task or libraries contain all query words. */
export function matching(entries: ReadonlyArray<IEntry>, query: string): IEntry[] {
  const words = query.toLowerCase().split(/\s+/);
  return entries.filter(({ summary: { libraries, task } }) => {
    const text = [task, ...libraries].join(' ').toLowerCase();
    return words.every(word => text.includes(word));
  });
}

/** A state in words. */
export function entryWords(trans: TranslationBundle, state: EntryState): string {
  switch (state) {
    case 'turn':
      return trans.__('Your turn');
    case 'working':
      return trans.__('Working');
    case 'solved':
      return trans.__('Solved');
    case 'failed':
      return trans.__('Not solved');
    case 'resting':
      return trans.__('Resting');
    case 'saved':
      return trans.__('Saved');
  }
}

/** For an open exploration, its model is newer than the list. */
function entryOf(summary: Summary, model: IExplorationModel | undefined): IEntry {
  const state = stateOf(summary, model);
  const steps = model?.exploration.steps;
  return steps
    ? { summary, state, done: steps.filter(isDone).length, steps: steps.length }
    : { summary, state, done: summary.done, steps: summary.steps };
}

function isDone(step: Step): boolean {
  return step.status === 'done';
}

function stateOf(summary: Summary, model: IExplorationModel | undefined): EntryState {
  const isOpen = model?.isOpen ?? summary.is_open;
  const progress = model?.progress ?? summary.progress;
  const status = model?.exploration.status ?? summary.status;
  if (isOpen && progress?.activity === 'working') {
    return 'working';
  }
  if (status === 'solved' || status === 'unverified') {
    return 'solved';
  }
  if (status === 'failed') {
    return 'failed';
  }
  if (!isOpen) {
    return 'saved';
  }
  return status === 'waiting' || progress?.activity === 'review' ? 'turn' : 'resting';
}
