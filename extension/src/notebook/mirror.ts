import * as nbformat from '@jupyterlab/nbformat';
import { Cells } from '../protocol';

/** Asks for everything: no revision is older. */
export const EVERYTHING = -1;

/** The server's cells as this tab has received them, in whatever order the answers came. */
export class Mirror {
  /** The revision of the newest answer; `EVERYTHING` before the first. */
  get revision(): number {
    return this._revision;
  }

  /** The cells in their order. */
  get cells(): ReadonlyArray<nbformat.ICell> {
    return this._cells;
  }

  /** A cell by its id. */
  get(id: string): nbformat.ICell | undefined {
    return this._cells.find(cell => cell.id === id);
  }

  /**
   * Take an answer. Older ones change nothing.
   *
   * Returns false when it leaves out a cell that is not here: then everything must be asked for.
   */
  take(answer: Cells): boolean {
    if (answer.revision < this._revision) {
      return true;
    }
    const known = new Map(this._cells.map(cell => [cell.id as string, cell]));
    const cells: nbformat.ICell[] = [];
    for (const { id, cell } of answer.cells) {
      const whole = cell === null ? known.get(id) : ({ ...cell, id } as nbformat.ICell);
      if (whole === undefined) {
        this.forget();
        return false;
      }
      cells.push(whole);
    }
    this._cells = cells;
    this._revision = answer.revision;
    return true;
  }

  /** Forget all, as when another session answers from now on. */
  forget(): void {
    this._cells = [];
    this._revision = EVERYTHING;
  }

  private _cells: nbformat.ICell[] = [];
  private _revision = EVERYTHING;
}
