import * as nbformat from '@jupyterlab/nbformat';
import { INotebookModel } from '@jupyterlab/notebook';
import { applyCells } from '../model';
import { MERGE_KEY, isOurs, sourceOf, stateOf, writtenIn } from './marks';
import { IMerge } from './provider';

type NewCell = Parameters<INotebookModel['sharedModel']['insertCell']>[1];

/**
 * Merge others' changes into a notebook's cells. What the user has changed since it was sent
 * stays as it is: the next save reports it.
 */
export function merge(model: INotebookModel, { change, number, sent }: IMerge): void {
  const { sharedModel } = model;
  const before = new Map(sent.map(cell => [cell.id as string, cell]));
  const after = applyCells(sent, change);
  const kept = new Set(after.map(cell => cell.id as string));
  const indexOf = (id: unknown) => sharedModel.cells.findIndex(cell => cell.id === id);
  const isAsSent = (index: number, cell: nbformat.ICell | undefined) =>
    index >= 0 && !!cell && sharedModel.getCell(index).getSource() === sourceOf(cell);
  // One transaction each: within a transaction the indices stay the same.
  const quietly = (work: () => void) => sharedModel.transact(work, false);
  for (const [id, cell] of before) {
    const index = indexOf(id);
    if (!kept.has(id) && isAsSent(index, cell)) {
      quietly(() => sharedModel.deleteCell(index));
    }
  }
  after.forEach((cell, place) => {
    const [index, old] = [indexOf(cell.id), before.get(cell.id as string)];
    const copy = JSON.parse(JSON.stringify(cell)) as NewCell;
    if (index < 0 && !old) {
      const above = place ? indexOf(after[place - 1].id) : -1;
      quietly(() => sharedModel.insertCell(above + 1, copy));
    } else if (isAsSent(index, old) && isNews(old as nbformat.ICell, cell)) {
      quietly(() => sharedModel.deleteCell(index));
      quietly(() => sharedModel.insertCell(index, copy));
    }
  });
  sharedModel.setMetadata(MERGE_KEY, number);
}

/** Whether people have changed a cell: the exploration's own changes come as events. */
function isNews(before: nbformat.ICell, after: nbformat.ICell): boolean {
  if (isOurs(after.id as string, after.metadata)) {
    return writtenIn(after.metadata) !== null && sourceOf(before) !== sourceOf(after);
  }
  return stateOf(before) !== stateOf(after);
}
