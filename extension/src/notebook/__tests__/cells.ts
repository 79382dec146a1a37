import * as nbformat from '@jupyterlab/nbformat';
import { Cells } from '../../protocol';

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

/** The cell with the picture, which is the last. */
export function branches(source: string): nbformat.ICell {
  return {
    id: 'branches',
    cell_type: 'markdown',
    source,
    metadata: { exploracoder: { role: 'branches' } }
  };
}

/** A server that remembers at which revision a cell changed. */
export class Server {
  revision = 0;

  get cells(): nbformat.ICell[] {
    return this._cells;
  }

  /** Count the revision up and have other cells from now on. */
  set(cells: nbformat.ICell[]): void {
    this.revision += 1;
    const before = new Map(this._cells.map(cell => [cell.id, JSON.stringify(cell)]));
    for (const cell of cells) {
      if (before.get(cell.id) !== JSON.stringify(cell)) {
        this._changed.set(cell.id as string, this.revision);
      }
    }
    this._cells = cells;
  }

  answer(after: number): Cells {
    const cells = this._cells.map(cell => ({
      id: cell.id as string,
      cell: (this._changed.get(cell.id as string) ?? 0) > after ? structured(cell) : null
    }));
    return { revision: this.revision, cells };
  }

  private _cells: nbformat.ICell[] = [];
  private _changed = new Map<string, number>();
}

function structured(cell: nbformat.ICell): { [key: string]: unknown } {
  return JSON.parse(JSON.stringify(cell));
}

/** Random numbers that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
