import * as nbformat from '@jupyterlab/nbformat';
import { CellsChange } from '../../protocol';

/** A subtask's code cell as the server makes it. */
export function candidate(subtask: string, source: string, shows = ''): nbformat.ICell {
  const outputs = shows ? [{ output_type: 'stream', name: 'stdout', text: `${shows}\n` }] : [];
  return {
    id: subtask,
    cell_type: 'code',
    source,
    outputs,
    execution_count: shows ? 1 : null,
    metadata: { exploracoder: { role: 'candidate', subtask } }
  };
}

/** A subtask's heading as the server makes it. */
export function goal(subtask: string, source: string): nbformat.ICell {
  return {
    id: `${subtask}-goal`,
    cell_type: 'markdown',
    source,
    metadata: { exploracoder: { role: 'goal', subtask } }
  };
}

/** The last cell, which has the picture. */
export function branches(source: string): nbformat.ICell {
  return {
    id: 'branches',
    cell_type: 'markdown',
    source,
    metadata: { exploracoder: { role: 'branches' } }
  };
}

/** What changed in a notebook's cells, as the server reports it. */
export function changeBetween(
  before: ReadonlyArray<nbformat.ICell>,
  after: ReadonlyArray<nbformat.ICell>
): CellsChange {
  const known = new Map(before.map(cell => [cell.id, JSON.stringify(cell)]));
  const cells = after.filter(cell => known.get(cell.id) !== JSON.stringify(cell));
  return { cells: JSON.parse(JSON.stringify(cells)), order: after.map(cell => cell.id as string) };
}

/** Random numbers that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
