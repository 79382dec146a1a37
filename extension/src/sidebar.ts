import {
  ILabShell,
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { FileDialog } from '@jupyterlab/filebrowser';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CallBack } from './callback';
import { contentsPath } from './contentspath';
import { Explorations } from './explorations';
import { UserNotebook } from './usernotebook';
import { Preferences } from './preferences';
import { ServerStatus } from './protocol';
import { Suggester } from './suggestions';
import { IExplorations } from './tokens';
import { variablesOf } from './variables';
import { openMenu } from './widgets/menu';
import { Sidebar } from './widgets/sidebar';
import { ISourcePlace, ITools } from './widgets/tools';
import { widenOnce } from './width';

const ID = 'exploracoder:plugin';
// After the tables of contents and running kernels, before the extension manager.
const RANK = 450;
const CURRENT = 'exploracoder:current';

/** The sidebar. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'The sidebar in which explorations are started and steered.',
  autoStart: true,
  requires: [IExplorations, IRenderMimeRegistry],
  optional: [
    IDocumentManager,
    IEditorLanguageRegistry,
    ILabShell,
    ILayoutRestorer,
    INotebookTracker,
    ISettingRegistry,
    IStateDB,
    ITranslator
  ],
  activate
};

export default plugin;

function activate(
  app: JupyterFrontEnd,
  service: IExplorations,
  rendermime: IRenderMimeRegistry,
  documents: IDocumentManager | null,
  languages: IEditorLanguageRegistry | null,
  labShell: ILabShell | null,
  restorer: ILayoutRestorer | null,
  notebooks: INotebookTracker | null,
  registry: ISettingRegistry | null,
  state: IStateDB | null,
  translator: ITranslator | null
): void {
  // This extension's service; any other would have to follow events in the same way.
  const explorations = service as Explorations;
  const { draft } = explorations;
  const preferences = new Preferences();
  const notebook = new UserNotebook(notebooks, app.serviceManager.contents);
  const tools: ITools = {
    trans: (translator ?? nullTranslator).load('exploracoder'),
    languages,
    rendermime,
    execute: (command, args) =>
      complainIfRefused(app.commands.execute(command, { ...args, isQuiet: true })),
    send: (model, command) => complainIfRefused(model.do(command)),
    docPage: doc => explorations.docPage(doc),
    openMenu: (...given) => openMenu(app.commands, ...given),
    sourceOpener: source => sourceOpener(app, explorations.status, source)
  };

  const explore = async () => {
    const request = draft.request(notebook.place, {
      ...preferences.choices,
      model: explorations.models.choice
    });
    // What is typed from now on is the next task.
    const takeBack = draft.submit();
    const model = await explorations.start(request).catch(error => {
      takeBack();
      // The form, which says why, was left meanwhile.
      if (explorations.current) {
        complain(error);
      }
      throw error;
    });
    if (preferences.opensNotebook) {
      tools.execute('exploracoder:open-notebook', { id: model.id });
    }
  };
  const suggester = new Suggester(explorations, notebook, () => widget.isVisible);
  const widget: Sidebar = new Sidebar({
    explorations,
    tools,
    prices: () => preferences.prices,
    onShow: () => {
      suggester.update();
      callBack.answer();
      if (state) {
        void app.restored.then(() => widenOnce(widget, state));
      }
    },
    form: () => ({
      draft,
      place: notebook.place,
      onExplore: explore,
      loadLibraries: async () => {
        const name = notebook.place?.kernelName ?? null;
        return (await explorations.libraries(name)).libraries;
      },
      indexLibrary: async name => {
        await explorations.indexLibrary(name, notebook.place?.kernelName ?? null);
      },
      loadVariables: async () => (notebook.kernel ? variablesOf(notebook.kernel) : []),
      pickFolder: () => pickFolder(documents, tools, translator)
    })
  });

  function complainIfRefused(work: Promise<unknown>): void {
    widget.complain('');
    work.catch(complain);
  }

  function complain(error: unknown): void {
    widget.complain(error instanceof Error ? error.message : `${error}`);
  }

  const callBack = new CallBack(explorations, widget, app, tools.trans);
  draft.changed.connect(() => widget.refresh());
  draft.visit(notebook.path);
  notebook.changed.connect(() => {
    draft.visit(notebook.path);
    widget.refresh();
  });
  notebook.moved.connect((_, path) => draft.move(path));
  let { area } = preferences;
  preferences.changed.connect(() => {
    draft.follow(preferences.mode);
    void explorations.models.restore(preferences, 'model');
    widget.refresh();
    const isMoved = area !== preferences.area;
    area = preferences.area;
    // Adding it again hides it.
    if (widget.isAttached && isMoved) {
      app.shell.add(widget, preferences.area, { rank: RANK, type: 'ExploraCoder' });
    }
  });
  void start();

  async function start(): Promise<void> {
    const settings = await registry?.load(ID).catch(() => undefined);
    if (settings) {
      preferences.follow(settings);
    }
    if (state) {
      await draft.restore(state, 'exploracoder:draft');
      void showAgain(explorations, state);
    }
    restorer?.add(widget, Sidebar.ID);
    app.shell.add(widget, area, { rank: RANK, type: 'ExploraCoder' });
  }
}

/** Restores what was shown before the page was reloaded, and saves what is shown. */
async function showAgain(explorations: Explorations, state: IStateDB): Promise<void> {
  await explorations.ready;
  const id = await shownBefore(explorations, state);
  if (!explorations.current && id && explorations.open.has(id)) {
    explorations.show(id);
  }
  let saved: string | undefined;
  const keep = () => {
    const shown = explorations.current?.id ?? '';
    if (shown !== saved) {
      saved = shown;
      // The state database writes with a delay: too late if the page is reloaded at once.
      sessionStorage.setItem(CURRENT, shown);
      void state.save(CURRENT, shown);
    }
  };
  explorations.changed.connect(keep);
  keep();
}

/** The id of what this tab showed, else another tab, else what is at work; '' for the form. */
async function shownBefore(explorations: Explorations, state: IStateDB): Promise<string> {
  const inTab = sessionStorage.getItem(CURRENT);
  if (inTab && explorations.open.has(inTab)) {
    return inTab;
  }
  const kept = await state.fetch(CURRENT).catch(() => undefined);
  if (inTab === null && typeof kept === 'string' && explorations.open.has(kept)) {
    return kept;
  }
  const atWork = [...explorations.open.values()].filter(one => one.progress.activity === 'working');
  return atWork.pop()?.id ?? '';
}

/** Opens a file at a line; null for files that the server does not serve. */
function sourceOpener(
  app: JupyterFrontEnd,
  status: ServerStatus | null,
  source: ISourcePlace
): (() => void) | null {
  const path = contentsPath(status, source.file);
  if (path === null) {
    return null;
  }
  const line = source.line ?? 1;
  return () => {
    void app.commands
      .execute('docmanager:open', { path })
      .then(() => app.commands.execute('fileeditor:go-to-line', { line }))
      // The line is a nicety: not every version has the command.
      .catch(() => undefined);
  };
}

async function pickFolder(
  manager: IDocumentManager | null,
  tools: ITools,
  translator: ITranslator | null
): Promise<string | null> {
  if (!manager) {
    return null;
  }
  const { value } = await FileDialog.getExistingDirectory({
    manager,
    title: tools.trans.__('A folder with a library’s source'),
    translator: translator ?? undefined
  });
  return value?.length ? `./${value[0].path}` : null;
}
