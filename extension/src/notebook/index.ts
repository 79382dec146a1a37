import { ILabShell, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import {
  INotebookTracker,
  INotebookWidgetFactory,
  NotebookWidgetFactory
} from '@jupyterlab/notebook';
import { Contents, IDefaultDrive } from '@jupyterlab/services';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { IExplorations } from '../tokens';
import { ErrorStrips } from './errorstrips';
import { Requests } from '../request';
import { KEY } from './marks';
import { Panels } from './panels';
import { ExplorationContents, sparingOtherDrives } from './provider';
import { IExplorationNotebooks } from './tokens';

/** Keeps exploration notebooks up to date, and adds actions to their cells. */
const plugin: JupyterFrontEndPlugin<IExplorationNotebooks> = {
  id: 'exploracoder:notebook',
  description: 'Makes the notebooks of explorations live.',
  autoStart: true,
  provides: IExplorationNotebooks,
  requires: [IExplorations, INotebookTracker, IDocumentManager],
  optional: [IDefaultDrive, INotebookWidgetFactory, ITranslator, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    explorations: IExplorations,
    tracker: INotebookTracker,
    documents: IDocumentManager,
    drive: Contents.IDrive | null,
    factory: NotebookWidgetFactory.IFactory | null,
    translator: ITranslator | null,
    labShell: ILabShell | null
  ): IExplorationNotebooks => {
    const trans = (translator ?? nullTranslator).load('exploracoder');
    new ErrorStrips(app.commands, trans);
    return new Panels({
      tracker,
      documents,
      contents: provide(app, drive, factory),
      explorations,
      commands: app.commands,
      trans,
      isLab: labShell !== null
    });
  }
};

/** Collaboration plugins, which save notebooks themselves. */
const SHARING = /^@jupyter(-ai-contrib)?\/(docprovider-extension|server-documents)/;

/** Let the server write the notebooks of explorations, unless they are shared. */
function provide(
  app: JupyterFrontEnd,
  drive: Contents.IDrive | null,
  factory: NotebookWidgetFactory.IFactory | null
): ExplorationContents | null {
  const { contents, serverSettings } = app.serviceManager;
  const registry = drive?.contentProviderRegistry;
  const isShared = app.listPlugins().some(id => SHARING.test(id));
  if (!registry || !factory || isShared || factory.contentProviderId) {
    return null;
  }
  const provider = new ExplorationContents(new Requests(serverSettings));
  registry.register(KEY, provider);
  factory.contentProviderId = KEY;
  sparingOtherDrives(contents);
  contents.fileChanged.connect((_, { type, oldValue, newValue }) => {
    if (type === 'rename' && oldValue?.path && newValue?.path) {
      provider.rename(oldValue.path, newValue.path);
    }
  });
  return provider;
}

export default plugin;
