import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISessionContext } from '@jupyterlab/apputils';
import { ICellModel, isCodeCellModel } from '@jupyterlab/cells';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { KernelSpec } from '@jupyterlab/services';
import { KEY, isObject } from './notebook/marks';

const KERNEL = 'exploracoder';
const PROGRAM = 'exploracoder_kernel.kernel';

/**
 * Shows the scratch kernel's outputs as untrusted, no matter who ran the cell: JupyterLab trusts
 * what a user runs, but what a library prints there is not the user's.
 */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'exploracoder:untrusted',
  description: 'Lets no script run that comes from the scratch kernel.',
  autoStart: true,
  optional: [INotebookTracker, IConsoleTracker],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null
  ): void => {
    const isScratch = (name: string | undefined) =>
      isScratchKernel(name, app.serviceManager.kernelspecs.specs);
    const watch = (panel: NotebookPanel) => {
      const isDoubted = () => isDoubtful(panel, isScratch);
      distrust(panel.content.rendermime, isDoubted);
      keepUntrusted(panel, isDoubted);
    };
    // A panel is added before its file is read, and so before anything is drawn.
    notebooks?.forEach(watch);
    notebooks?.widgetAdded.connect((_, panel) => watch(panel));
    consoles?.widgetAdded.connect((_, panel) =>
      distrust(panel.console.rendermime, () => isScratch(kernelOf(panel.sessionContext)))
    );
  }
};

export default plugin;

/** Draw everything as untrusted while `isDoubted` holds, whatever a model claims. */
export function distrust(rendermime: IRenderMimeRegistry, isDoubted: () => boolean): void {
  const prefer = rendermime.preferredMimeType.bind(rendermime);
  const create = rendermime.createRenderer.bind(rendermime);
  const clone = rendermime.clone.bind(rendermime);
  rendermime.preferredMimeType = (data, safe) => prefer(data, isDoubted() ? 'ensure' : safe);
  rendermime.createRenderer = mimeType => {
    const renderer = create(mimeType);
    const render = renderer.renderModel.bind(renderer);
    renderer.renderModel = model => render(isDoubted() ? new Untrusted(model) : model);
    return renderer;
  };
  rendermime.clone = options => {
    const copy = clone(options);
    distrust(copy, isDoubted);
    return copy;
  };
}

/** Whether a kernelspec starts the scratch kernel, under whatever name it was installed. */
export function isScratchKernel(
  name: string | undefined,
  specs: KernelSpec.ISpecModels | null
): boolean {
  const argv = name === undefined ? undefined : specs?.kernelspecs[name]?.argv;
  return name === KERNEL || (argv ?? []).includes(PROGRAM);
}

/** A model with the same content, but untrusted. */
class Untrusted implements IRenderMime.IMimeModel {
  constructor(private readonly _model: IRenderMime.IMimeModel) {}

  readonly trusted = false;

  get data() {
    return this._model.data;
  }

  get metadata() {
    return this._model.metadata;
  }

  setData(options: IRenderMime.IMimeModel.ISetDataOptions): void {
    this._model.setData(options);
  }
}

/** Whether a notebook's outputs may come from the scratch kernel; a connected kernel decides. */
function isDoubtful(panel: NotebookPanel, isScratch: (name?: string) => boolean): boolean {
  const kernel = kernelOf(panel.sessionContext);
  if (kernel !== undefined) {
    return isScratch(kernel);
  }
  const shared = panel.model?.sharedModel;
  const spec = shared?.getMetadata('kernelspec') as { name?: string } | undefined;
  return isObject(shared?.getMetadata(KEY)) || isScratch(spec?.name);
}

function kernelOf(context: ISessionContext): string | undefined {
  return context.session?.kernel?.name;
}

/** Keep cells from being saved as trusted: other programs would trust them, too. */
function keepUntrusted(panel: NotebookPanel, isDoubted: () => boolean): void {
  const doubt = (cell: ICellModel) => {
    if (cell.trusted && isDoubted()) {
      cell.trusted = false;
      cell.sharedModel.deleteMetadata('trusted');
    }
  };
  const watched = new WeakSet<ICellModel>();
  const watch = () => {
    for (const cell of panel.content.model?.cells ?? []) {
      if (isCodeCellModel(cell) && !watched.has(cell)) {
        watched.add(cell);
        cell.stateChanged.connect(doubt);
        doubt(cell);
      }
    }
  };
  panel.content.model?.cells.changed.connect(watch);
  watch();
}
