import { Cell, CodeCell } from '@jupyterlab/cells';
import { IError } from '@jupyterlab/nbformat';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Contents } from '@jupyterlab/services';
import { codeOf, serverPath } from './usernotebook';
import { CellError } from './protocol';
import { suggestionsFor } from './suggestions';
import { IExplorations } from './tokens';

/** Fill in the form from a cell: its error, its text, or else its code to run first. */
export async function beginFrom(
  explorations: IExplorations,
  contents: Contents.IManager,
  panel: NotebookPanel,
  cell: Cell
): Promise<void> {
  const { draft } = explorations;
  const { id, sharedModel } = cell.model;
  const source = sharedModel.getSource();
  const error = failureOf(cell);
  if (error) {
    const kernel = panel.sessionContext.session?.kernel ?? null;
    const path = serverPath(contents, panel.context.path);
    const place = { path, kernel, cells: codeOf(panel) };
    const found = await suggestionsFor(explorations, place, id, error);
    const origin = { cell_id: id, is_replaced: true };
    draft.begin({ ...found, origin });
  } else {
    const task = wordsOf(cell.model.type, source);
    const origin = task ? { cell_id: id, is_replaced: false } : null;
    draft.begin({ task: task || draft.value.task, cells: task ? [] : [id], origin });
  }
  explorations.show(null);
}

/** The error of a cell's last run; null if it did not fail. */
export function failureOf(cell: Cell | null): CellError | null {
  if (!(cell instanceof CodeCell)) {
    return null;
  }
  const outputs = cell.model.sharedModel.getOutputs();
  const error = outputs.find((one): one is IError => one.output_type === 'error');
  if (!error) {
    return null;
  }
  const { ename, evalue, traceback } = error;
  return { name: ename, message: evalue, traceback: traceback.join('\n').slice(-50_000) };
}

/** Whether a library is involved in a failure: in the traceback's files, or by name. */
export function isOfLibrary({ message, traceback }: CellError): boolean {
  return (
    /[\\/](site|dist)-packages[\\/](?!IPython|ipykernel)/.test(traceback) ||
    /(module|from|package|object|type) '/.test(message)
  );
}

/** The text of a cell, or the comments of a code cell. */
function wordsOf(type: string, source: string): string {
  if (type !== 'code') {
    return source.trim();
  }
  const comments = source.split('\n').filter(line => /^\s*#(?!!|\s*%%)/.test(line));
  return comments
    .map(line => line.replace(/^\s*#+\s?/, ''))
    .join('\n')
    .trim();
}
