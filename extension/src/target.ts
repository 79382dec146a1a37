import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Action, allows, inReview } from './abilities';
import { IExplorationNotebooks } from './notebook/tokens';
import { IExplorationModel } from './tokens';

/** What a command is about. */
export interface ITarget {
  model: IExplorationModel;
  subtask: string;
  candidate: string | null;
}

type Looked = Pick<IExplorationNotebooks, 'activeModel' | 'activeSubtask' | 'shown'>;

/**
 * The exploration, subtask and candidate that a command is about; null when it cannot be done.
 *
 * What the arguments leave out is the cell that the user is at, if the command can be done there,
 * or else the subtask that waits for their review.
 */
export function targetOf(
  action: Action,
  model: IExplorationModel | null,
  args: ReadonlyPartialJSONObject,
  notebooks: Looked | null
): ITarget | null {
  if (!model) {
    return null;
  }
  const asked = typeof args.candidate === 'string' ? args.candidate : null;
  const isHere = notebooks?.activeModel === model;
  const subtasks =
    typeof args.subtask === 'string'
      ? [args.subtask]
      : [isHere ? notebooks.activeSubtask : null, inReview(model.exploration)?.subtask.id ?? null];
  for (const subtask of subtasks) {
    const shown = subtask === null ? null : (notebooks?.shown(model, subtask) ?? null);
    const candidate = asked ?? shown;
    if (allows(model, action, subtask, candidate)) {
      return { model, subtask: subtask ?? '', candidate };
    }
  }
  return null;
}
