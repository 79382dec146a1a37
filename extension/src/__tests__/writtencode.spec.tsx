import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { Search } from '../protocol';
import { WrittenCode } from '../widgets/writtencode';
import { draw } from './waiting';

const tools = { languages: null, trans: nullTranslator.load('jupyterlab') };
const CODE = 'import tealeaf\nleaves = tealeaf.read(text)\nprint(leaves)';

describe('WrittenCode', () => {
  it('shows a search above the line that it was made for', async () => {
    const page = await drawn([search({ line: 2, query: 'read leaves', answer: 'tealeaf.read' })]);

    expect(parts(page)).toEqual([
      'import tealeaf',
      'read leaves → tealeaf.read',
      'leaves = tealeaf.read(text)\nprint(leaves)'
    ]);
  });

  it('shows searches that were made before any code, and past its end, at the ends', async () => {
    const page = await drawn([search({ line: null, note: 'too late' }), search({ line: 99 })]);

    expect(parts(page)).toEqual([
      'A search → too late',
      'import tealeaf\nleaves = tealeaf.read(text)',
      'A search → Nothing was found.',
      'print(leaves)'
    ]);
  });

  it('leaves code without searches in one piece, and markup in them as text', async () => {
    const whole = await drawn([]);
    const evil = await drawn([search({ query: '<img src=x onerror=alert(1)>' })]);

    expect(parts(whole)).toEqual([CODE]);
    expect(evil.querySelector('img')).toBeNull();
    expect(evil.textContent).toContain('<img src=x onerror=alert(1)>');
  });
});

function search(values: Partial<Search>): Search {
  return { line: 1, query: '', answer: '', note: '', ...values };
}

async function drawn(searches: Search[]): Promise<HTMLElement> {
  return draw(
    <WrittenCode code={CODE} searches={searches} tools={tools} />,
    // The code's text appears a turn after its element.
    node => !!Array.from(node.querySelectorAll('code')).pop()?.textContent
  );
}

/** Cards and pieces of code, in order. */
function parts(page: HTMLElement): Array<string | null> {
  return [...page.querySelectorAll('.jp-exploracoder-card, pre')].map(part =>
    part.tagName === 'PRE'
      ? part.textContent
      : [...part.children].map(child => child.textContent).join(' → ')
  );
}
