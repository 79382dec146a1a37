import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { Candidate, Observation } from '../protocol';
import { IExplorationModel } from '../tokens';
import { Candidates } from '../widgets/candidates';
import { ITools } from '../widgets/tools';
import { candidate, step } from './samples';
import { draw } from './waiting';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5E';
const EVIL = '<img src=x onerror=alert(1)>';

function ran(values: Partial<Observation>): Partial<Candidate> {
  return { observation: { ...(candidate('').observation as Observation), ...values } };
}

function shown(type: string, data: unknown): Partial<Candidate> {
  return ran({ outputs: [{ output_type: 'display_data', data: { [type]: data }, metadata: {} }] });
}

describe('Candidates', () => {
  it('shows of each what it says and what came out, and marks the chosen one', async () => {
    const { cards } = await drawn([
      candidate('s1/1', { code: 'a = 1\nb = 2\nc = 3\nd = 4', ...ran({ stdout: 'one\n' }) }),
      candidate('s1/2', ran({ status: 'error', error: failure('KeyError', 'tea') })),
      candidate('s1/3', ran({ result: '3' }))
    ]);

    expect(cards.map(card => card.querySelector('code')?.textContent)[0]).toBe(
      'a = 1\nb = 2\nc = 3'
    );
    expect(cards.map(card => card.querySelector('samp')?.textContent)).toEqual([
      'one',
      'KeyError: tea',
      '3'
    ]);
    expect(cards.map(card => card.getAttribute('aria-current'))).toEqual([null, null, 'true']);
  });

  it('has a small picture of a plot, and takes nothing for one that is no PNG', async () => {
    const { cards } = await drawn([
      candidate('s1/1', shown('image/png', `${PNG}\n`)),
      candidate('s1/2', shown('image/png', 'x" onerror="alert(1)')),
      candidate('s1/3', shown('image/svg+xml', '<svg onload="alert(1)"/>'))
    ]);

    const pictures = cards.map(card => card.querySelector('img')?.getAttribute('src'));
    expect(pictures).toEqual([`data:image/png;base64,${PNG}`, undefined, undefined]);
  });

  it('shows markup in code and output as text', async () => {
    const { cards } = await drawn([candidate('s1/1', { code: EVIL, ...ran({ stdout: EVIL }) })]);

    expect(cards[0].querySelector('img')).toBeNull();
    expect(cards[0].textContent).toContain(EVIL);
  });

  it('goes from card to card by the arrow keys', async () => {
    const { cards, picked } = await drawn(['s1/1', 's1/2', 's1/3'].map(id => candidate(id)));
    cards[2].focus();
    press(cards[2], 'ArrowRight');
    press(cards[0], 'End');

    expect(document.activeElement).toBe(cards[2]);
    expect(picked).toEqual(['s1/1', 's1/3']);
  });
});

function failure(ename: string, evalue: string): Observation['error'] {
  return { ename, evalue, traceback: [], line: null };
}

function press(card: HTMLElement, key: string): void {
  card.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
}

/** The cards of candidates, the last of which is chosen, and the ids that get picked. */
async function drawn(candidates: Candidate[]): Promise<{ cards: HTMLElement[]; picked: string[] }> {
  const picked: string[] = [];
  const chosen = candidates[candidates.length - 1];
  const tools = { trans: nullTranslator.load('jupyterlab'), languages: null } as unknown as ITools;
  const node = await draw(
    <Candidates
      model={{ id: 'e1' } as IExplorationModel}
      step={step('s1', { candidates, chosen: chosen.id })}
      selected={{ ...chosen, observation: null }}
      documented={new Set()}
      onSelect={id => picked.push(id)}
      tools={tools}
    />
  );
  return { cards: [...node.querySelectorAll<HTMLElement>('[role=tab]')], picked };
}
