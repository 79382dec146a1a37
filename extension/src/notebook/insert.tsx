import { ICellModel } from '@jupyterlab/cells';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { finalAttempt, isGood } from '../wording';
import { Exploration } from '../protocol';
import { beginUndoStep } from './undo';

/** The code that an exploration stands by; null while there is none that ran. */
export function solutionCode(exploration: Exploration): string | null {
  const attempt = finalAttempt(exploration);
  return isGood(attempt) ? attempt.code : null;
}

/**
 * Put code into a new cell below a notebook's active one, and go there. It is one step for undo,
 * and it is not run: that is for the notebook's owner to do.
 */
export async function insertBelow(panel: NotebookPanel, code: string): Promise<ICellModel | null> {
  const { content } = panel;
  const notebook = panel.model;
  if (!notebook) {
    return null;
  }
  const index = Math.min(content.activeCellIndex + 1, notebook.sharedModel.cells.length);
  beginUndoStep(notebook.sharedModel);
  notebook.sharedModel.insertCell(index, { cell_type: 'code', source: code, metadata: {} });
  content.deselectAll();
  content.activeCellIndex = index;
  content.mode = 'command';
  await content.scrollToItem(index, 'smart');
  await NotebookActions.focusActiveCell(content);
  return notebook.cells.get(index);
}
