import { ICellModel, ICodeCellModel, isCodeCellModel } from '@jupyterlab/cells';
import * as nbformat from '@jupyterlab/nbformat';
import { INotebookModel } from '@jupyterlab/notebook';
import { PartialJSONValue } from '@lumino/coreutils';
import { IChange, ICurrentCell, IPlan, isDone, planUpsert } from './plan';
import { beginUndoStep } from './undo';

type NewCell = Parameters<INotebookModel['sharedModel']['insertCell']>[1];

/**
 * Bring a notebook up to date with the server's cells.
 *
 * Nothing enters the user's undo history, except where an edit of theirs is overwritten. A second
 * call does nothing. Returns whether anything was changed.
 */
export function upsert(model: INotebookModel, wanted: ReadonlyArray<nbformat.ICell>): boolean {
  const plan = planUpsert(currentCells(model), wanted);
  if (isDone(plan)) {
    return false;
  }
  apply(model, plan);
  return true;
}

/** The cells of a notebook as they are now. */
export function currentCells(model: INotebookModel): ICurrentCell[] {
  return Array.from(model.cells, cell => ({ json: cell.toJSON(), isRunning: isRunning(cell) }));
}

/** Whether a cell is executing. */
export function isRunning(cell: ICellModel): boolean {
  return isCodeCellModel(cell) && cell.executionState === 'running';
}

function apply(model: INotebookModel, plan: IPlan): void {
  const { sharedModel } = model;
  const cells = new Map(Array.from(model.cells, cell => [cell.id, cell] as const));
  sharedModel.transact(() => {
    for (const { id, metadata, source, isOverEdit } of plan.changes) {
      const cell = cells.get(id)?.sharedModel;
      for (const [key, value] of Object.entries(metadata)) {
        cell?.setMetadata(key, value as PartialJSONValue);
      }
      if (cell && source !== undefined && !isOverEdit) {
        setSource(cell, source);
      }
    }
    for (const index of plan.deletions) {
      sharedModel.deleteCell(index);
    }
    for (const { index, cell } of plan.insertions) {
      sharedModel.insertCell(index, copy(cell));
    }
  }, false);
  // The rest goes through the cells' models; overwriting an edit can be undone.
  for (const change of plan.changes) {
    const cell = cells.get(change.id);
    if (cell) {
      applyToCell(cell, change);
    }
  }
}

function applyToCell(cell: ICellModel, change: IChange): void {
  if (change.isOverEdit && change.source !== undefined) {
    beginUndoStep(cell.sharedModel);
    setSource(cell.sharedModel, change.source);
  }
  if (isCodeCellModel(cell)) {
    setOutputs(cell, change);
    if (change.source !== undefined) {
      markAsRun(cell);
    }
  }
}

/** Mark the cell's source as run, so that it does not show as changed since. */
function markAsRun(cell: ICodeCellModel): void {
  cell.executionState = 'running';
  cell.executionState = 'idle';
}

function setOutputs(cell: ICodeCellModel, { outputs, executionCount }: IChange): void {
  if (outputs !== undefined) {
    // The user having run this cell does not make these outputs trusted.
    cell.trusted = false;
    cell.outputs.fromJSON(outputs);
  }
  if (executionCount !== undefined) {
    cell.executionCount = executionCount;
  }
}

/** Change only what differs, so that a cursor elsewhere in the text stays where it is. */
function setSource(cell: ICellModel['sharedModel'], source: string): void {
  const before = cell.getSource();
  const most = Math.min(before.length, source.length);
  let start = 0;
  while (start < most && before[start] === source[start]) {
    start++;
  }
  let end = 0;
  while (
    end < most - start &&
    before[before.length - 1 - end] === source[source.length - 1 - end]
  ) {
    end++;
  }
  cell.updateSource(start, before.length - end, source.slice(start, source.length - end));
}

/** The shared model keeps what it is given, so give it a copy. */
function copy(cell: nbformat.ICell): NewCell {
  return JSON.parse(JSON.stringify(cell)) as NewCell;
}
