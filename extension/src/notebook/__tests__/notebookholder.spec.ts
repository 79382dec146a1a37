import { DocumentRegistry } from '@jupyterlab/docregistry';
import { INotebookModel, NotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import { ServiceManager } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { opened } from '../../__tests__/samples';
import { until } from '../../__tests__/waiting';
import { ExplorationModel } from '../../model';
import { Requests } from '../../request';
import { IExplorations } from '../../tokens';
import { NotebookHolder } from '../notebookholder';
import { ExplorationContents, IMerge } from '../provider';
import { QuietChanges } from '../quietchanges';
import { branches, candidate, changeBetween } from './cells';

const SAVE_MS = 50;

type Context = DocumentRegistry.IContext<INotebookModel>;

let notebook: NotebookModel;
/** The first cell's source at each save. */
let saved: string[];

beforeEach(() => {
  // The shared notebook warns about each new cell, with a stack trace.
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  notebook = new NotebookModel({ disableDocumentWideUndoRedo: true });
  saved = [];
});

afterEach(() => {
  jest.useRealTimers();
  notebook.dispose();
});

const firstCell = () => notebook.sharedModel.getCell(0);

function context(): Context {
  const made = {
    contentsModel: { writable: true },
    isDisposed: false,
    model: notebook,
    path: 'tea-exploration.ipynb',
    save: async () => {
      saveState.emit('started');
      saved.push(firstCell().getSource());
      await new Promise(resolve => setTimeout(resolve, SAVE_MS));
      notebook.dirty = false;
      saveState.emit('completed');
    }
  };
  const saveState = new Signal<typeof made, string>(made);
  const disposed = new Signal(made);
  return Object.assign(made, { disposed, saveState }) as unknown as Context;
}

describe('QuietChanges', () => {
  it('saves while the user types on without a pause', async () => {
    jest.useFakeTimers();
    notebook.sharedModel.insertCell(0, { cell_type: 'code', source: '' });
    const quiet = new QuietChanges(context(), () => true);

    for (let typed = 0; typed < 40; typed++) {
      firstCell().setSource('x'.repeat(typed + 1));
      await jest.advanceTimersByTimeAsync(100);
    }

    expect(saved.length).toBeGreaterThanOrEqual(1);
    quiet.dispose();
  });

  it('saves what is typed during a save', async () => {
    jest.useFakeTimers();
    notebook.sharedModel.insertCell(0, { cell_type: 'code', source: '' });
    const quiet = new QuietChanges(context(), () => true);

    firstCell().setSource('a');
    while (saved.length === 0) {
      await jest.advanceTimersByTimeAsync(10);
    }
    firstCell().setSource('ab');
    await jest.advanceTimersByTimeAsync(5_000);

    expect(saved).toEqual(['a', 'ab']);
    expect(notebook.dirty).toBe(false);
    quiet.dispose();
  });
});

describe('NotebookHolder', () => {
  it('keeps its exploration when its notebook is renamed, and only then', () => {
    const model = new ExplorationModel(opened({ kernel_id: '' }), {} as Requests);
    const { change, holder, panel } = held(model);
    expect(holder.model).toBe(model);

    panel.context.path = 'renamed.ipynb';
    change();
    expect(holder.model).toBe(model);
    // The server has noticed.
    model.replace(opened({ kernel_id: '', path: 'renamed.ipynb', number: 12 }));
    change();
    expect(holder.model).toBe(model);
    // Somebody has moved the file away from under this notebook.
    model.replace(opened({ kernel_id: '', path: 'elsewhere.ipynb', number: 13 }));
    change();
    expect(holder.model).toBeNull();
    holder.dispose();
  });

  it('saves what was typed without a connection before newer cells come in', async () => {
    const cells = (source: string) =>
      [candidate('s1', source), branches('')] as unknown as ReturnType<typeof opened>['cells'];
    const model = new ExplorationModel(
      opened({ kernel_id: '', cells: cells('a = 1') }),
      {} as Requests
    );
    const { change, holder, service } = held(model);
    expect(firstCell().getSource()).toBe('a = 1');

    service.isConnected = false;
    change();
    firstCell().setSource('a = 1  # mine');
    service.isConnected = true;
    change();
    model.replace(opened({ kernel_id: '', revision: 6, number: 12, cells: cells('a = 2') }));

    await until(() => firstCell().getSource() === 'a = 2');
    expect(saved).toEqual(['a = 1  # mine']);
    holder.dispose();
  });

  it('does not save what it merges, however many views there are', async () => {
    jest.useFakeTimers();
    notebook.sharedModel.insertCell(0, { cell_type: 'code', source: '' });
    const model = new ExplorationModel(opened({ kernel_id: '' }), {} as Requests);
    const shared = context();
    const contents = {} as ExplorationContents;
    const merged = new Signal<ExplorationContents, IMerge>(contents);
    Object.assign(contents, { merged });
    notebook.dirty = false;
    const views = [held(model, shared, contents), held(model, shared, contents)];

    // Each save has an answer, which is merged before the save is over.
    const cells = [{ ...candidate('mine', 'a = 1'), metadata: {} }];
    const change = changeBetween([], cells);
    const save = shared.save.bind(shared);
    let number = 0;
    shared.save = async () => {
      const done = save();
      number += 1;
      merged.emit({ path: shared.path, number, sent: [], change });
      await done;
    };
    firstCell().setSource('typed');
    await jest.advanceTimersByTimeAsync(10_000);

    expect(saved).toEqual(['typed']);
    expect(notebook.sharedModel.cells.map(cell => cell.getSource())).toContain('a = 1');
    views.forEach(({ holder }) => holder.dispose());
  });
});

/** A holder of the notebook for an exploration, and what it depends on. */
function held(
  model: ExplorationModel,
  shared = context(),
  contents: ExplorationContents | null = null
) {
  const service = {
    isConnected: true,
    past: [],
    status: null,
    open: new Map([[model.id, model]]),
    forPath: (path: string) => (path === model.path ? model : null)
  };
  const changed = new Signal<typeof service, void>(service);
  const panel = { context: shared as { path: string }, model: notebook, content: {} };
  Object.assign(panel, { disposed: new Signal(panel) });
  Object.assign(panel.content, { activeCellChanged: new Signal(panel.content) });
  const holder = new NotebookHolder(
    panel as unknown as NotebookPanel,
    Object.assign(service, { changed }) as unknown as IExplorations,
    {} as ServiceManager.IManager,
    contents
  );
  return { change: () => changed.emit(), holder, panel, service };
}
