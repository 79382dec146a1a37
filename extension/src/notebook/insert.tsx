import { Dialog, showDialog } from '@jupyterlab/apputils';
import { Cell } from '@jupyterlab/cells';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Exploration } from '../protocol';
import { IExplorationModel } from '../tokens';
import { Difference } from '../widgets/difference';
import { finalAttempt, isGood } from '../wording';
import { beginUndoStep } from './undo';

// The metadata key of a solution's cell: the exploration that it comes from.
const FROM = 'exploracoder_from';

/** The final solution's code; null if none ran, or if its check failed. */
export function solutionCode(exploration: Exploration): string | null {
  const attempt = finalAttempt(exploration);
  return isGood(attempt) ? attempt.code : null;
}

/**
 * Put a solution into a notebook: in place of the cell that failed or that holds an earlier
 * solution, if the user accepts the difference, else in a new cell. It is a single undo step, and
 * it is not run: that is up to the notebook's owner.
 */
export async function insertSolution(
  panel: NotebookPanel,
  model: IExplorationModel,
  code: string,
  trans: TranslationBundle
): Promise<void> {
  const cells = panel.content.widgets;
  const earlier = cells.find(cell => cell.model.getMetadata(FROM) === model.id);
  const began = cells.find(cell => cell.model.id === model.origin?.cell_id);
  const target = earlier ?? (model.origin?.is_replaced ? began : undefined);
  const choice = target ? await choose(target, code, trans) : 'below';
  if (target && choice === 'replace') {
    replace(target, model.id, code);
    await goTo(panel, cells.indexOf(target));
  } else if (choice === 'below') {
    const after = target ?? began;
    const index = after ? cells.indexOf(after) : panel.content.activeCellIndex;
    await insertBelow(panel, index, model.id, code);
  }
}

async function choose(
  cell: Cell,
  code: string,
  trans: TranslationBundle
): Promise<'replace' | 'below' | 'leave'> {
  const source = cell.model.sharedModel.getSource();
  const { button } = await showDialog({
    title: trans.__('Replace the code of this cell?'),
    body: <Difference before={source} after={code} trans={trans} />,
    buttons: [
      Dialog.cancelButton(),
      Dialog.createButton({ label: trans.__('Insert below'), actions: ['below'] }),
      Dialog.okButton({ label: trans.__('Replace') })
    ]
  });
  if (button.actions.includes('below')) {
    return 'below';
  }
  return button.accept ? 'replace' : 'leave';
}

function replace(cell: Cell, id: string, code: string): void {
  const { sharedModel } = cell.model;
  beginUndoStep(sharedModel);
  sharedModel.transact(() => {
    sharedModel.setSource(code);
    sharedModel.setMetadata(FROM, id);
  });
}

async function insertBelow(
  panel: NotebookPanel,
  above: number,
  id: string,
  code: string
): Promise<void> {
  const notebook = panel.model?.sharedModel;
  if (notebook) {
    const index = Math.min(above + 1, notebook.cells.length);
    beginUndoStep(notebook);
    notebook.insertCell(index, { cell_type: 'code', source: code, metadata: { [FROM]: id } });
    await goTo(panel, index);
  }
}

async function goTo({ content }: NotebookPanel, index: number): Promise<void> {
  content.deselectAll();
  content.activeCellIndex = index;
  content.mode = 'command';
  await content.scrollToItem(index, 'smart');
  await NotebookActions.focusActiveCell(content);
}
