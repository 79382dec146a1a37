import { ILabShell, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { IExplorations } from '../tokens';
import { ErrorStrips } from './errorstrips';
import { Panels } from './panels';
import { IExplorationNotebooks } from './tokens';

/** Keeps the notebooks of explorations up to date, with what can be done in their cells. */
const plugin: JupyterFrontEndPlugin<IExplorationNotebooks> = {
  id: 'exploracoder:notebook',
  description: 'Makes the notebooks of explorations live.',
  autoStart: true,
  provides: IExplorationNotebooks,
  requires: [IExplorations, INotebookTracker, IDocumentManager],
  optional: [ITranslator, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    explorations: IExplorations,
    tracker: INotebookTracker,
    documents: IDocumentManager,
    translator: ITranslator | null,
    labShell: ILabShell | null
  ): IExplorationNotebooks => {
    const trans = (translator ?? nullTranslator).load('exploracoder');
    new ErrorStrips(app.commands, trans);
    return new Panels({
      tracker,
      documents,
      explorations,
      commands: app.commands,
      trans,
      isLab: labShell !== null
    });
  }
};

export default plugin;
