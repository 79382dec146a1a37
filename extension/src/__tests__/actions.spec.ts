import { readFileSync } from 'fs';
import { nullTranslator } from '@jupyterlab/translation';
import { ACTIONS, AGAIN, ALL_OF_CANDIDATE, ALL_OF_SUBTASK, MORE, ITarget } from '../actions';
import { ExplorationModel } from '../model';
import { Requests } from '../request';
import { targetOf } from '../target';
import { candidate, exploration, opened, step } from './samples';

const actions = ACTIONS(nullTranslator.load('jupyterlab'));
const TARGET: ITarget = { subtask: 's1', candidate: 's1/1', hint: 'sort them' };

describe('ACTIONS', () => {
  it('has whatever the settings give a key, a menu or a toolbar', () => {
    const settings = readFileSync('schema/plugin.json', 'utf8');
    const named = [...settings.matchAll(/"command": "exploracoder:([^"]+)"/g)].map(
      ([, name]) => name
    );

    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(name => !(name in actions))).toEqual([]);
  });

  it('tells the engine the command that its ability is called after', () => {
    const told = Object.values(actions).filter(action => action.command);

    expect(told.length).toBeGreaterThan(7);
    for (const { ability, command } of told) {
      expect(command?.(TARGET).kind).toBe(ability);
    }
  });

  it('takes along what the user says about a candidate that is not right', () => {
    expect(actions.debug.command?.(TARGET)).toEqual({ kind: 'debug', ...TARGET });
    expect(actions['other-candidates'].command?.(TARGET)).toMatchObject({ hint: 'sort them' });
  });

  it('offers nothing of a subtask that the engine does not decide about', () => {
    for (const name of [...AGAIN, ...MORE, ...ALL_OF_CANDIDATE]) {
      expect(actions[name].ability).toBeDefined();
      expect([...ALL_OF_SUBTASK]).toContain(name);
    }
  });
});

describe('targetOf', () => {
  const steps = [
    step('s1', { status: 'done', chosen: 's1/1', candidates: [candidate('s1/1')] }),
    step('s2', {
      status: 'review',
      chosen: 's2/1',
      candidates: [candidate('s2/1'), candidate('s2/2')]
    })
  ];
  const abilities = {
    s1: ['go_back' as const],
    's2/1': ['accept' as const, 'debug' as const],
    's2/2': ['debug' as const]
  };
  const model = new ExplorationModel(
    opened({ exploration: exploration({ steps }), abilities }),
    {} as Requests
  );

  it('means the proposal of the subtask in review when nothing else is said', () => {
    expect(targetOf('accept', model, {}, null)).toMatchObject({ subtask: 's2', candidate: 's2/1' });
  });

  it('means the cell that the user is at when it can be done there', () => {
    const at = { activeModel: model, activeSubtask: 's1', shown: () => null };

    expect(targetOf('go_back', model, {}, at)?.subtask).toBe('s1');
    expect(targetOf('accept', model, {}, at)?.subtask).toBe('s2');
  });

  it('means the candidate that is looked at', () => {
    const at = { activeModel: model, activeSubtask: null, shown: () => 's2/2' };

    expect(targetOf('debug', model, {}, at)?.candidate).toBe('s2/2');
    expect(targetOf('accept', model, {}, at)).toBeNull();
  });

  it('means nothing else than what is asked for by name', () => {
    expect(targetOf('accept', model, { subtask: 's1' }, null)).toBeNull();
    expect(targetOf('debug', model, { subtask: 's2', candidate: 's2/1' }, null)?.hint).toBe('');
  });
});
