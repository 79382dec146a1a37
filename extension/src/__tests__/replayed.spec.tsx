import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { Replayed, ReplayedCell } from '../protocol';
import { Difference } from '../widgets/difference';
import { ReplayedCells } from '../widgets/replayedcells';
import { draw } from './waiting';

const trans = nullTranslator.load('jupyterlab');
const UPGRADE = { library: 'tealeaf', before: '2.1', now: '2.2' };

describe('ReplayedCells', () => {
  it('says of each cell in words whether it did the same', async () => {
    const page = await drawn([
      cell({ cell: 's1', goal: 'Read', result: 'same' }),
      cell({ cell: 's2', goal: 'Keep', result: 'changed', now: 'oolong' }),
      cell({ cell: 's3', goal: 'Name', result: 'failed', now: 'KeyError: 1' })
    ]);

    expect(heads(page)).toEqual(['✓ same Read', '≠ changed Keep', '✗ failed Name']);
    expect(page.textContent).toContain('1 of 3 cells gave the same result.');
  });

  it('names a library of another version above, and at the cells that use it', async () => {
    const page = await drawn([cell({ cell: 's1', versions: [UPGRADE] }), cell({ cell: 's2' })]);
    const [first, second] = items(page);

    expect(page.querySelector('p')?.textContent).toBe('Library version changed: tealeaf 2.1 → 2.2');
    expect(first.textContent).toContain('tealeaf 2.1 → 2.2');
    expect(second.textContent).not.toContain('tealeaf');
  });

  it('shows line by line how the outputs of a changed cell differ, and none of the same', async () => {
    const page = await drawn([
      cell({ cell: 's1', before: 'sencha\nassam', now: 'sencha\noolong', result: 'changed' }),
      cell({ cell: 's2', before: 'sencha', now: 'sencha' })
    ]);
    const [first, second] = items(page);

    expect(lines(first)).toEqual(['  sencha', '- removed: assam', '+ added: oolong']);
    expect(first.querySelector('pre')?.getAttribute('aria-label')).toContain('goal of s1');
    expect(second.querySelector('pre')).toBeNull();
  });

  it('shows markup in an output as text', async () => {
    const page = await drawn([cell({ now: '<img src=x onerror=alert(1)>', result: 'changed' })]);

    expect(page.querySelector('img')).toBeNull();
    expect(page.textContent).toContain('<img src=x onerror=alert(1)>');
  });
});

describe('Difference', () => {
  it('leaves out what is far from the lines that differ, and says how much', async () => {
    const before = ['one', 'two', 'three', 'four', 'five'];
    const after = ['one', 'two', 'three', 'FOUR', 'five'];
    const page = await draw(
      <Difference before={before.join('\n')} after={after.join('\n')} around={1} trans={trans} />
    );

    expect(lines(page)).toEqual([
      '… 2 equal lines',
      '  three',
      '- removed: four',
      '+ added: FOUR',
      '  five'
    ]);
  });

  it('shows every line where nothing is said about it', async () => {
    const page = await draw(<Difference before={'a\nb\nc'} after={'a\nb\nC'} trans={trans} />);

    expect(lines(page)).toEqual(['  a', '  b', '- removed: c', '+ added: C']);
  });

  it('shows what was not there before as added alone', async () => {
    const page = await draw(<Difference before="" after="new" trans={trans} />);

    expect(lines(page)).toEqual(['+ added: new']);
  });
});

function cell(values: Partial<ReplayedCell> = {}): ReplayedCell {
  const id = values.cell ?? 's1';
  return {
    cell: id,
    goal: `goal of ${id}`,
    result: 'same',
    before: 'assam',
    now: 'assam',
    versions: [],
    ...values
  };
}

function drawn(cells: ReplayedCell[]): Promise<HTMLElement> {
  const replayed: Replayed = { path: 'tea.ipynb', versions: [UPGRADE], cells };
  return draw(<ReplayedCells replayed={replayed} trans={trans} />);
}

function items(page: HTMLElement): HTMLElement[] {
  return [...page.querySelectorAll('li')];
}

function heads(page: HTMLElement): Array<string | null | undefined> {
  return items(page).map(item => item.querySelector('p')?.textContent);
}

function lines(page: HTMLElement): Array<string | undefined> {
  return [...page.querySelectorAll('.jp-exploracoder-line')].map(line =>
    line.textContent?.replace(/\n$/, '')
  );
}
