import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Ability, ITarget } from './actions';
import { IExplorationNotebooks } from './notebook/tokens';
import { IExplorationModel } from './tokens';
import { nextOpen } from './wording';

type Looked = Pick<IExplorationNotebooks, 'activeModel' | 'activeSubtask' | 'shown'>;

/**
 * The exploration, subtask and candidate that a command applies to; null if it cannot run.
 *
 * By default, the subtask is that of the active cell, if the command can run there, or else the one
 * that awaits review.
 */
export function targetOf(
  ability: Ability,
  model: IExplorationModel | null,
  args: ReadonlyPartialJSONObject,
  notebooks: Looked | null
): (ITarget & { model: IExplorationModel }) | null {
  if (!model) {
    return null;
  }
  const { steps } = model.exploration;
  const hint = typeof args.hint === 'string' ? args.hint : '';
  const first = nextOpen(model.exploration);
  const subtasks =
    typeof args.subtask === 'string'
      ? [args.subtask]
      : [
          notebooks?.activeModel === model ? notebooks.activeSubtask : null,
          first?.status === 'review' ? first.subtask.id : null
        ];
  for (const subtask of subtasks) {
    const step = steps.find(one => one.subtask.id === subtask);
    // If no candidate ran, the last one is the one to debug.
    const last = ability === 'debug' ? step?.candidates[step.candidates.length - 1]?.id : null;
    const chosen = step?.chosen ?? last ?? null;
    const shown = subtask === null ? null : notebooks?.shown(model, subtask);
    const candidate = typeof args.candidate === 'string' ? args.candidate : (shown ?? chosen);
    if (model.can(ability, subtask, candidate)) {
      return { model, subtask: subtask ?? '', candidate, hint };
    }
  }
  return null;
}
