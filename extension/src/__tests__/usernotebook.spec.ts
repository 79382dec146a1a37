import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ContentsManager, Drive } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { UserNotebook } from '../usernotebook';
import { until } from './waiting';

function panelOf(path: string, metadata: object = {}): NotebookPanel {
  const getMetadata = (key: string) => (metadata as { [key: string]: unknown })[key];
  const content = { widgets: [], model: { getMetadata } };
  Object.assign(content, { modelContentChanged: new Signal(content) });
  const panel = {
    context: { path, pathChanged: new Signal({}), ready: Promise.resolve() },
    content,
    sessionContext: { kernelChanged: new Signal({}) },
    isDisposed: false
  };
  return Object.assign(panel, { disposed: new Signal(panel) }) as unknown as NotebookPanel;
}

/** A tracker of notebooks, the first of which the user visits. */
function tracker(...panels: NotebookPanel[]): INotebookTracker {
  const find = (isFound: (panel: NotebookPanel) => boolean) => panels.find(isFound);
  const made = { currentWidget: panels[0], find };
  return Object.assign(made, { currentChanged: new Signal(made) }) as unknown as INotebookTracker;
}

describe('UserNotebook', () => {
  const contents = new ContentsManager({ defaultDrive: new Drive() });
  contents.addDrive(new Drive({ name: 'cloud' }));
  afterAll(() => contents.dispose());

  it.each([
    ['work/tea.ipynb', 'work/tea.ipynb'],
    ['work/tea: green.ipynb', 'work/tea: green.ipynb'],
    // The server knows no other drive.
    ['cloud:tea.ipynb', '']
  ])('names the place of %s for the server', async (path, sent) => {
    const notebook = new UserNotebook(tracker(panelOf(path)), contents);
    await until(() => notebook.place !== null);

    expect(notebook.place!.path).toBe(sent);
  });

  it('tells where it was moved', async () => {
    const panel = panelOf('tea.ipynb');
    const notebook = new UserNotebook(tracker(panel), contents);
    await until(() => notebook.path === 'tea.ipynb');
    const moved = jest.fn();
    notebook.moved.connect((_, path) => moved(path));

    (panel.context.pathChanged as Signal<unknown, string>).emit('green.ipynb');

    expect(moved).toHaveBeenCalledWith('green.ipynb');
  });

  it('is another that is open when the last one visited is closed', async () => {
    const closing = panelOf('tea.ipynb');
    const own = panelOf('tea-exploration.ipynb', { exploracoder: { id: 'e1' } });
    const notebook = new UserNotebook(tracker(closing, own, panelOf('pots.ipynb')), contents);
    await until(() => notebook.place?.path === 'tea.ipynb');

    Object.assign(closing, { isDisposed: true });
    (closing.disposed as Signal<unknown, void>).emit();

    await until(() => notebook.place !== null);
    expect(notebook.place!.path).toBe('pots.ipynb');
  });
});
