import * as nbformat from '@jupyterlab/nbformat';
import { Exploration, Step } from '../protocol';
import { markOf } from './marks';

/** Which candidate a subtask's cell shows in place of the chosen one: subtask to candidate. */
export type Previews = ReadonlyMap<string, string>;

/** The server's cells, with the candidates that the user is previewing. */
export function withPreviews(
  cells: ReadonlyArray<nbformat.ICell>,
  exploration: Exploration,
  previews: Previews
): nbformat.ICell[] {
  return cells.map(cell => {
    const mark = markOf(cell.metadata);
    const shown = mark?.role === 'candidate' && mark.subtask ? previews.get(mark.subtask) : null;
    const step = exploration.steps.find(one => one.subtask.id === mark?.subtask);
    const candidate = step?.candidates.find(one => one.id === shown);
    if (!candidate || candidate.id === step?.chosen) {
      return cell;
    }
    return {
      ...cell,
      source: candidate.code,
      outputs: (candidate.observation?.outputs ?? []) as nbformat.IOutput[],
      execution_count: null
    };
  });
}

/** The previews that still make sense: a changed step shows its current proposal. */
export function previewsAfter(
  before: Exploration,
  after: Exploration,
  previews: Previews
): Previews {
  return new Map(
    [...previews].filter(([subtask]) => {
      const [old, now] = [stepOf(before, subtask), stepOf(after, subtask)];
      return (
        old !== undefined &&
        now !== undefined &&
        old.status === now.status &&
        old.chosen === now.chosen &&
        old.candidates.length === now.candidates.length
      );
    })
  );
}

/** The step of a subtask. */
export function stepOf(exploration: Exploration, subtask: string | null): Step | undefined {
  return exploration.steps.find(step => step.subtask.id === subtask);
}
