import { JupyterFrontEnd } from '@jupyterlab/application';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import plugin from '../commands';
import { ExplorationModel } from '../model';
import { IExplorationNotebooks } from '../notebook/tokens';
import { Attempt } from '../protocol';
import { Requests } from '../request';
import { IExplorations } from '../tokens';
import { candidate, exploration, opened } from './samples';

const SOLUTION = { code: 'tea = 1', observation: candidate('c').observation } as Attempt;

describe('commands of an exploration whose session has ended', () => {
  const model = new ExplorationModel(
    opened({
      abilities: { '': ['insert'] },
      exploration: exploration({ solution: { attempts: [SOLUTION] }, status: 'solved' } as never)
    }),
    {} as Requests
  );
  model.end();
  const service = { current: model, open: new Map(), past: [] };
  const explorations = Object.assign(service, { changed: new Signal(service) });
  const commands = new CommandRegistry();
  // No notebook of the user's is open.
  const notebooks = { activeModel: null, active: null, ownOf: () => null };
  void plugin.activate(
    { commands, shell: { activateById: () => undefined } } as unknown as JupyterFrontEnd,
    explorations as unknown as IExplorations,
    notebooks as unknown as IExplorationNotebooks,
    null,
    null
  );
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
