import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISessionContext } from '@jupyterlab/apputils';
import { ICellModel, isCodeCellModel } from '@jupyterlab/cells';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import {
  IRenderMime,
  IRenderMimeRegistry,
  standardRendererFactories
} from '@jupyterlab/rendermime';
import { KernelSpec } from '@jupyterlab/services';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { KEY, isObject } from './notebook/marks';
import { quieten, quietSanitizer, replacing, withoutDiagrams } from './sanitizing';

const KERNEL = 'exploracoder';
const PROGRAM = 'exploracoder_kernel.kernel';
// Other types fetch what their data name: a Vega chart its rows, a Mermaid diagram its pictures.
const OWN_FACTORIES = new Map(
  standardRendererFactories.flatMap(factory => factory.mimeTypes.map(type => [type, factory]))
);
const QUIET_TYPES = new Set(['application/json', ...OWN_FACTORIES.keys()]);

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
    const { kernelspecs } = app.serviceManager;
    const isScratch = (name: string | undefined) => isScratchKernel(name, kernelspecs.specs);
    const watch = (panel: NotebookPanel) => {
      const isDoubted = () => isDoubtful(panel, isScratch);
      distrust(panel.content.rendermime, isDoubted);
      keepUntrusted(panel, isDoubted);
      refuseComms(panel.sessionContext, isScratch, kernelspecs.ready);
    };
    // Over plain HTTP browsers look up the hosts of links before anybody clicks them.
    const meta = document.createElement('meta');
    meta.httpEquiv = 'x-dns-prefetch-control';
    meta.content = 'off';
    document.head.append(meta);
    // A panel is added before its file is read, and so before anything is drawn.
    notebooks?.forEach(watch);
    notebooks?.widgetAdded.connect((_, panel) => watch(panel));
    consoles?.widgetAdded.connect((_, panel) => {
      distrust(panel.console.rendermime, () => isScratch(kernelOf(panel.sessionContext)));
      refuseComms(panel.sessionContext, isScratch, kernelspecs.ready);
    });
  }
};

export default plugin;

/**
 * Draw everything as untrusted while `isDoubted` holds, whatever a model claims, and fetch nothing
 * for it: what code without network prints must not leave through the browser.
 */
export function distrust(rendermime: IRenderMimeRegistry, isDoubted: () => boolean): void {
  beQuiet(rendermime, isDoubted);
  const prefer = rendermime.preferredMimeType.bind(rendermime);
  const create = rendermime.createRenderer.bind(rendermime);
  const clone = rendermime.clone.bind(rendermime);
  rendermime.preferredMimeType = (data, safe) =>
    isDoubted() ? prefer(quietForms(data), 'ensure') : prefer(data, safe);
  rendermime.createRenderer = mimeType => {
    // Other extensions may replace JupyterLab's own renderers.
    const factory = isDoubted() ? OWN_FACTORIES.get(mimeType) : undefined;
    const renderer = factory?.createRenderer(optionsOf(rendermime, mimeType)) ?? create(mimeType);
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

/** Replace what a registry hands to its renderers by what fetches nothing while `isOn` holds. */
function beQuiet(rendermime: IRenderMimeRegistry, isOn: () => boolean): void {
  const { latexTypesetter, markdownParser, sanitizer } = rendermime;
  const typeset = async (node: HTMLElement) => {
    await latexTypesetter?.typeset(node);
    // A formula can set styles; the browser has not drawn it yet.
    if (isOn()) {
      quieten(node);
    }
  };
  const render = async (text: string) =>
    (await markdownParser?.render(isOn() ? withoutDiagrams(text) : text)) ?? '';
  Object.assign(rendermime, {
    sanitizer: quietSanitizer(sanitizer, isOn),
    latexTypesetter: latexTypesetter && replacing(latexTypesetter, { typeset }),
    markdownParser: markdownParser && replacing(markdownParser, { render })
  });
}

function optionsOf(
  rendermime: IRenderMimeRegistry,
  mimeType: string
): IRenderMime.IRendererOptions {
  const { latexTypesetter, linkHandler, markdownParser, resolver, sanitizer } = rendermime;
  return { latexTypesetter, linkHandler, markdownParser, mimeType, resolver, sanitizer };
}

function quietForms(data: ReadonlyPartialJSONObject): ReadonlyPartialJSONObject {
  return Object.fromEntries(Object.entries(data).filter(([type]) => QUIET_TYPES.has(type)));
}

/** Whether a kernelspec starts the scratch kernel, under whatever name it was installed. */
export function isScratchKernel(
  name: string | undefined,
  specs: KernelSpec.ISpecModels | null
): boolean {
  const argv = name === undefined ? undefined : specs?.kernelspecs[name]?.argv;
  // The program is named within a line of Python: see `spec.py`.
  return name === KERNEL || (argv ?? []).some(part => part.includes(PROGRAM));
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

/**
 * Take no comm messages from the scratch kernel: widgets are made from them, even ones that are
 * never shown, and a widget's model can bring scripts of its own.
 */
export function refuseComms(
  context: Pick<ISessionContext, 'kernelChanged' | 'session'>,
  isScratch: (name?: string) => boolean,
  specsReady: Promise<void>
): void {
  const refuse = () => {
    const kernel = context.session?.kernel;
    if (kernel && isScratch(kernel.name)) {
      kernel.handleComms = false;
    }
  };
  context.kernelChanged.connect(refuse);
  refuse();
  // Until then only the usual name is known.
  void specsReady.then(refuse);
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
