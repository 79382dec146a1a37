import { ServerConnection } from '@jupyterlab/services';
import { applyChange, ExplorationModel } from '../model';
import { Change, ExplorationEvent } from '../protocol';
import { Requests } from '../request';
import { candidate, exploration, opened, step } from './samples';

const NOTHING: Change = { fields: {}, steps: [], order: null, progress: null, abilities: {} };

function event(number: number, change: Partial<Change>): ExplorationEvent {
  return {
    kind: 'exploration',
    number,
    id: 'e1',
    revision: number,
    path: 'tea-exploration.ipynb',
    kernel_id: 'k1',
    state: 'changed',
    change: { ...NOTHING, ...change },
    cells: { cells: [], order: null },
    warning: `warning ${number}`
  };
}

describe('applyChange', () => {
  it('replaces the fields that are named and keeps the others', () => {
    const before = exploration();

    const after = applyChange(before, { ...NOTHING, fields: { status: 'solved' } });

    expect(after.status).toBe('solved');
    expect(after.task).toBe(before.task);
  });

  it('keeps steps that did not change the same objects', () => {
    const before = exploration();
    const done = step('s2', { status: 'done', candidates: [candidate('c1')], chosen: 'c1' });

    const after = applyChange(before, { ...NOTHING, steps: [done] });

    expect(after.steps.map(one => one.status)).toEqual(['pending', 'done', 'pending']);
    expect(after.steps[0]).toBe(before.steps[0]);
    expect(after.steps[2]).toBe(before.steps[2]);
  });

  it('keeps the list of steps itself when no step changed', () => {
    const before = exploration();

    expect(applyChange(before, { ...NOTHING, fields: { reason: 'x' } }).steps).toBe(before.steps);
  });

  it('takes steps in, out, and to another place as the order says', () => {
    const change = { ...NOTHING, steps: [step('s4')], order: ['s3', 's4', 's1'] };

    const after = applyChange(exploration(), change);

    expect(after.steps.map(one => one.subtask.id)).toEqual(['s3', 's4', 's1']);
  });

  it('does not change what it was given', () => {
    const before = exploration();
    const copy = JSON.stringify(before);

    applyChange(before, { ...NOTHING, fields: { status: 'failed' }, order: ['s2'] });

    expect(JSON.stringify(before)).toBe(copy);
  });
});

describe('ExplorationModel', () => {
  const requests = new Requests(ServerConnection.makeSettings());

  it('takes each event once, whatever comes again after a reconnection', () => {
    const model = new ExplorationModel(opened(), requests);
    const emitted: (Change | null)[] = [];
    model.changed.connect((_, change) => emitted.push(change));
    const news = event(11, { fields: { status: 'running' } });

    model.apply(news);
    model.apply(news);
    model.apply(event(9, { fields: { status: 'failed' } }));

    expect(emitted).toEqual([news.change]);
    expect(model.exploration.status).toBe('running');
    expect(model.revision).toBe(11);
  });

  it('knows what can be done from what was told last of each subtask and candidate', () => {
    const model = new ExplorationModel(
      opened({ abilities: { '': ['go_on'], s1: ['skip'], 's1/1': ['accept'] } }),
      requests
    );
    model.apply(event(11, { abilities: { s1: ['draft'], 's1/1': [] } }));

    expect(model.can('go_on')).toBe(true);
    expect(model.can('skip', 's1')).toBe(false);
    expect(model.can('draft', 's1')).toBe(true);
    expect(model.can('draft', 's2')).toBe(false);
    expect(model.can('accept', 's1', 's1/1')).toBe(false);
  });

  it('takes nothing once its session has ended, and its solution can still be inserted', () => {
    const abilities = { '': ['synthesize' as const, 'insert' as const] };
    const model = new ExplorationModel(opened({ abilities }), requests);
    model.end();

    expect(model.can('synthesize')).toBe(false);
    expect(model.can('insert')).toBe(true);
  });

  it('keeps the progress that it has when an event brings none', () => {
    const model = new ExplorationModel(opened(), requests);
    const working = { ...model.progress, activity: 'working' as const, message: 'Planning' };

    model.apply(event(11, { progress: working }));
    model.apply(event(12, { fields: { reason: 'x' } }));

    expect(model.progress).toEqual(working);
  });

  it('learns which kernel was started in place of one that is gone', () => {
    const model = new ExplorationModel(opened({ kernel_id: 'k1' }), requests);

    model.apply({ ...event(11, {}), kernel_id: 'k2' });

    expect(model.kernelId).toBe('k2');
  });

  it('is not put back by an answer that is older than its events', () => {
    const model = new ExplorationModel(opened(), requests);
    model.apply(event(12, { fields: { status: 'solved' } }));

    model.replace(opened({ number: 11 }));

    expect(model.exploration.status).toBe('solved');
  });

  it('starts again from what a restarted server has, whose numbers are low', () => {
    const model = new ExplorationModel(opened(), requests);
    const other = opened({ epoch: 'second', number: 1, revision: 9 });

    model.replace(other);

    expect(model.revision).toBe(9);
  });

  it('says that its session has ended', () => {
    const model = new ExplorationModel(opened(), requests);
    let count = 0;
    model.changed.connect(() => count++);

    model.end();

    expect(model.isOpen).toBe(false);
    expect(count).toBe(1);
  });
});
