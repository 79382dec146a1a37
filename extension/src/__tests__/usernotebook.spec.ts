import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ContentsManager, Drive } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { UserNotebook } from '../usernotebook';
import { until } from './waiting';

function tracker(path: string): INotebookTracker {
  const content = { widgets: [], model: { getMetadata: () => undefined } };
  Object.assign(content, { modelContentChanged: new Signal(content) });
  const panel = {
    context: { path, ready: Promise.resolve() },
    content,
    sessionContext: { kernelChanged: new Signal({}) },
    isDisposed: false
  };
  Object.assign(panel, { disposed: new Signal(panel) });
  const made = { currentWidget: panel as unknown as NotebookPanel };
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
    const notebook = new UserNotebook(tracker(path), contents);
    await until(() => notebook.place !== null);

    expect(notebook.place!.path).toBe(sent);
  });
});
