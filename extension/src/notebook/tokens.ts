import { Cell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';
import { IExplorationModel } from '../tokens';

/** The notebooks of explorations in this tab, and the user's own beside them. */
export interface IExplorationNotebooks {
  /** The user's notebook that was active last; never one of an exploration. */
  readonly own: NotebookPanel | null;
  /** Whether more than one notebook of the user's is open. */
  readonly hasOthers: boolean;
  /** The exploration notebook that is active now. */
  readonly active: NotebookPanel | null;
  /** The subtask of its active cell. */
  readonly activeSubtask: string | null;
  /** The exploration that `active` belongs to, while its session is on the server. */
  readonly activeModel: IExplorationModel | null;
  /** Open an exploration's notebook beside the user's, or show it; go to a subtask's cell. */
  open(model: IExplorationModel, subtask?: string | null): Promise<void>;
  /** Go to the next or previous cell that belongs to a subtask. */
  move(by: 1 | -1): Cell | null;
  /** Show the next or previous candidate in the active cell; false when there is none. */
  turn(by: 1 | -1): boolean;
  /** The notebook that an exploration was started from, or else `own`. */
  ownOf(model: IExplorationModel): NotebookPanel | null;
  /** The candidate that a subtask's cell shows; null when its notebook is not open here. */
  shown(model: IExplorationModel, subtask: string): string | null;
  /** Show a candidate in its subtask's cell, if its notebook is open here. */
  show(model: IExplorationModel, subtask: string, candidate: string): void;
}

/** Its token; other extensions have no use for it. */
export const IExplorationNotebooks = new Token<IExplorationNotebooks>(
  'exploracoder:IExplorationNotebooks',
  'The notebooks of explorations that are open in this tab.'
);
