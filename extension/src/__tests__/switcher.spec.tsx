import { nullTranslator } from '@jupyterlab/translation';
import { ServerConnection } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import * as React from 'react';
import { entriesOf, matching } from '../entries';
import { ExplorationModel } from '../model';
import { OpenExploration, Summary } from '../protocol';
import { Requests } from '../request';
import { IExplorations } from '../tokens';
import { Switcher } from '../widgets/switcher';
import { ITools } from '../widgets/tools';
import { exploration, opened } from './samples';
import { draw } from './waiting';

function summary(id: string, values: Partial<Summary> = {}): Summary {
  return {
    id,
    path: `${id}.ipynb`,
    task: `task ${id}`,
    status: 'paused',
    created: '2026-01-01T00:00:00Z',
    steps: 3,
    done: 1,
    libraries: ['tealeaf'],
    is_open: false,
    progress: null,
    ...values
  };
}

function model(id: string, values: Partial<OpenExploration> = {}): ExplorationModel {
  const requests = new Requests(ServerConnection.makeSettings());
  const { exploration: state = exploration(), ...others } = values;
  return new ExplorationModel(opened({ ...others, exploration: { ...state, id } }), requests);
}

const WORKING = { ...opened().progress, activity: 'working' as const };

describe('entriesOf', () => {
  it('has first what waits for the user, then what works, then the rest as it was', () => {
    const summaries = [
      summary('old', { status: 'solved' }),
      summary('saved'),
      summary('works', { is_open: true }),
      summary('rests', { is_open: true }),
      summary('waits', { is_open: true })
    ];
    const open = new Map([
      ['works', model('works', { progress: WORKING })],
      ['rests', model('rests', { exploration: exploration({ status: 'cancelled' }) })],
      ['waits', model('waits')]
    ]);

    const entries = entriesOf(summaries, open);

    expect(entries.map(one => [one.summary.id, one.state])).toEqual([
      ['waits', 'turn'],
      ['works', 'working'],
      ['old', 'solved'],
      ['saved', 'saved'],
      ['rests', 'resting']
    ]);
  });

  it('finds what has all words in its task or its libraries', () => {
    const entries = entriesOf(
      [summary('a', { task: 'Brew tea' }), summary('b', { libraries: ['spikes'] })],
      new Map()
    );

    expect(matching(entries, 'BREW leaf').map(one => one.summary.id)).toEqual(['a']);
    expect(matching(entries, 'spik').map(one => one.summary.id)).toEqual(['b']);
    expect(matching(entries, '')).toHaveLength(2);
  });
});

describe('Switcher', () => {
  afterEach(() => document.body.replaceChildren());

  it('is searched, and gone through and chosen from by keys', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const page = await drawn(ids.map(id => summary(id)));
    const field = page.node.querySelector('input')!;
    const key = (node: Element, name: string) =>
      node.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));

    key(page.node.querySelector('.jp-exploracoder-entry')!, '/');
    expect(document.activeElement).toBe(field);
    key(field, 'ArrowDown');
    key(document.activeElement!, 'ArrowDown');
    expect(document.activeElement!.getAttribute('aria-label')).toBe('Resume: task b');
    (document.activeElement as HTMLElement).click();

    expect(page.executed).toEqual([['exploracoder:resume', { path: 'b.ipynb' }]]);
  });

  it('shows no field for a few, and shows one that is open', async () => {
    const page = await drawn([summary('a', { is_open: true })], new Map([['a', model('a')]]));

    expect(page.node.querySelector('input')).toBeNull();
    page.node.querySelector<HTMLElement>('.jp-exploracoder-entry')!.click();

    expect(page.shown).toEqual(['a']);
  });
});

async function drawn(past: Summary[], open = new Map<string, ExplorationModel>()) {
  const executed: unknown[] = [];
  const shown: string[] = [];
  const explorations = { past, open, current: null } as unknown as IExplorations;
  Object.assign(explorations, { changed: new Signal(explorations) });
  const tools = {
    trans: nullTranslator.load('exploracoder'),
    execute: (...call: unknown[]) => executed.push(call)
  } as unknown as ITools;
  const node = await draw(
    <div className="jp-exploracoder-sidebar">
      <Switcher explorations={explorations} onShow={id => shown.push(id)} tools={tools} />
    </div>
  );
  return { node, executed, shown };
}
