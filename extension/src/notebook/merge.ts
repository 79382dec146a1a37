import { INotebookModel } from '@jupyterlab/notebook';
import { applyCells } from '../model';
import { sourceOf } from './marks';
import { IMerge } from './provider';

type NewCell = Parameters<INotebookModel['sharedModel']['insertCell']>[1];

/**
 * Take into a notebook what others have made of its cells. What the user has changed since it was
 * sent stays as it is: the next save says so.
 */
export function merge(model: INotebookModel, { sent, change }: IMerge): void {
  const { sharedModel } = model;
  const before = new Map(sent.map(cell => [cell.id as string, sourceOf(cell)]));
  const after = applyCells(sent, change);
  const kept = new Set(after.map(cell => cell.id as string));
  const indexOf = (id: unknown) => sharedModel.cells.findIndex(cell => cell.id === id);
  const isAsSent = (index: number, source?: string) =>
    index >= 0 && sharedModel.getCell(index).getSource() === source;
  // Each a transaction of its own: within one the indices stay what they were.
  for (const [id, source] of before) {
    const index = indexOf(id);
    if (!kept.has(id) && isAsSent(index, source)) {
      sharedModel.transact(() => sharedModel.deleteCell(index), false);
    }
  }
  after.forEach((cell, place) => {
    const [index, source] = [indexOf(cell.id), before.get(cell.id as string)];
    if (index < 0 && source === undefined) {
      const above = place ? indexOf(after[place - 1].id) : -1;
      const copy = JSON.parse(JSON.stringify(cell)) as NewCell;
      sharedModel.transact(() => sharedModel.insertCell(above + 1, copy), false);
    } else if (source !== sourceOf(cell) && isAsSent(index, source)) {
      sharedModel.transact(() => sharedModel.getCell(index).setSource(sourceOf(cell)), false);
    }
  });
}
