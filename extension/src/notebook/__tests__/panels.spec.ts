import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { IExplorationModel, IExplorations } from '../../tokens';
import { IPanelsOptions, Panels } from '../panels';

const panelOf = (path: string) =>
  ({
    context: { path, isReady: true, ready: Promise.resolve() },
    isDisposed: false,
    model: null
  }) as unknown as NotebookPanel;

/** What follows these notebooks, the first of which the user visits. */
function made(open: NotebookPanel[]): Panels {
  const tracker = {
    currentWidget: open[0],
    find: (isFound: (panel: NotebookPanel) => boolean) => open.find(isFound),
    forEach: (work: (panel: NotebookPanel) => void) => open.forEach(work)
  };
  const currentChanged = new Signal(tracker);
  Object.assign(tracker, { currentChanged, widgetAdded: new Signal(tracker) });
  const services = { serverSettings: { baseUrl: 'http://x/' } };
  const panels = new Panels({
    tracker: tracker as unknown as INotebookTracker,
    documents: { services } as IDocumentManager,
    explorations: { forPath: (): null => null } as unknown as IExplorations,
    isLab: false
  } as IPanelsOptions);
  (currentChanged as Signal<unknown, unknown>).emit(null);
  return panels;
}

describe('Panels', () => {
  it('take another notebook for the user’s when the last one visited is closed', () => {
    const open = [panelOf('tea.ipynb'), panelOf('pots.ipynb')];
    const [closing, other] = open;
    const panels = made(open);
    expect(panels.own).toBe(closing);

    Object.assign(closing, { isDisposed: true });
    open.shift();

    expect(panels.own).toBe(other);
  });

  it('open each notebook in a browser tab of its own, whatever its file is called', async () => {
    const open = jest.spyOn(window, 'open').mockReturnValue(window);
    const panels = made([]);

    for (const path of ['green/tea.ipynb', 'black/tea.ipynb', 'green/tea.ipynb']) {
      await panels.open({ path } as IExplorationModel);
    }

    const names = open.mock.calls.map(([, name]) => name);
    expect(new Set(names).size).toBe(2);
    expect(names[2]).toBe(names[0]);
    open.mockRestore();
  });
});
