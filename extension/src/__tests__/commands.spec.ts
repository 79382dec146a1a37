import { JupyterFrontEnd } from '@jupyterlab/application';
import { NotebookPanel } from '@jupyterlab/notebook';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import plugin from '../commands';
import { ExplorationModel } from '../model';
import { IExplorationNotebooks } from '../notebook/tokens';
import { Attempt, OpenExploration } from '../protocol';
import { Requests } from '../request';
import { IExplorations } from '../tokens';
import { candidate, exploration, opened } from './samples';
import { until } from './waiting';

const SOLUTION = { code: 'tea = 1', observation: candidate('c').observation } as Attempt;

const SOLVED = exploration({ solution: { attempts: [SOLUTION] }, status: 'solved' } as never);

function solved(values: Partial<OpenExploration> = {}): ExplorationModel {
  const all = { abilities: { '': ['insert' as const] }, exploration: SOLVED, ...values };
  return new ExplorationModel(opened(all), {} as Requests);
}

/** The commands, with the notebook that a solution would go into. */
function commandsFor(
  model: ExplorationModel,
  own: NotebookPanel | null,
  hasOthers = false
): CommandRegistry {
  const service = { current: model, open: new Map(), past: [] };
  const explorations = Object.assign(service, { changed: new Signal(service) });
  const commands = new CommandRegistry();
  const notebooks = { activeModel: null, active: null, hasOthers, ownOf: () => own };
  void plugin.activate(
    { commands, shell: { activateById: () => undefined } } as unknown as JupyterFrontEnd,
    explorations as unknown as IExplorations,
    notebooks as unknown as IExplorationNotebooks,
    null,
    null
  );
  return commands;
}

describe('commands of an exploration whose session has ended', () => {
  const model = solved();
  model.end();
  const commands = commandsFor(model, null);
  const args = { id: model.id, isQuiet: true };

  it('can still insert its solution', async () => {
    expect(commands.isEnabled('exploracoder:insert', args)).toBe(true);
    await expect(commands.execute('exploracoder:insert', args)).rejects.toThrow(
      /Open the notebook/
    );
  });

  it('offer nothing that needs the session', () => {
    for (const name of ['close', 'toggle-review', 'show-candidate']) {
      expect(
        commands.isEnabled(`exploracoder:${name}`, { ...args, candidate: 'c', subtask: 's1' })
      ).toBe(false);
    }
    expect(commands.isEnabled('exploracoder:open-notebook', args)).toBe(true);
  });
});

describe('inserting a solution', () => {
  const notebook = (path: string) => {
    const insertCell = jest.fn();
    const sharedModel = { cells: [], insertCell };
    const content = { widgets: [], activeCellIndex: 0 };
    const panel = { id: 'p', context: { path }, content, model: { sharedModel } };
    return { panel: panel as unknown as NotebookPanel, insertCell };
  };

  it.each([
    ['is not open', { source_path: 'tea.ipynb' }, false, 'tea.ipynb'],
    ['is unknown and could be another one', {}, true, 'other.ipynb']
  ])('asks first when its notebook %s', async (_case, values, hasOthers, named) => {
    const { insertCell, panel } = notebook('other.ipynb');
    const commands = commandsFor(solved(values), panel, hasOthers);

    const inserting = commands.execute('exploracoder:insert', { isQuiet: true });
    await until(() => document.querySelector('.jp-Dialog') !== null);
    expect(document.querySelector('.jp-Dialog')!.textContent).toContain(named);
    document.querySelector<HTMLElement>('.jp-Dialog .jp-mod-reject')!.click();
    await inserting;

    expect(insertCell).not.toHaveBeenCalled();
  });

  it.each([
    ['only one notebook can be meant', {}, 'other.ipynb'],
    ['it goes where it came from', { source_path: 'tea.ipynb' }, 'tea.ipynb']
  ])('asks nothing when %s', async (_case, values, path) => {
    const { insertCell, panel } = notebook(path);
    const commands = commandsFor(solved(values), panel);

    // What follows needs a real notebook.
    await commands.execute('exploracoder:insert', { isQuiet: true }).catch(() => undefined);

    expect(insertCell).toHaveBeenCalled();
    expect(document.querySelector('.jp-Dialog')).toBeNull();
  });
});
