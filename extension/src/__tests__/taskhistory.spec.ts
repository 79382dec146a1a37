import { NO_RECALL, recalled } from '../taskhistory';

const HISTORY = ['newest', 'older', 'oldest'];

describe('recalled', () => {
  it('goes back in time and comes back to the text that was being written', () => {
    const first = recalled(HISTORY, NO_RECALL, 'unfinished', 1);
    const second = recalled(HISTORY, first!.recall, first!.text, 1);
    const back = recalled(HISTORY, second!.recall, second!.text, -1);
    const own = recalled(HISTORY, back!.recall, back!.text, -1);

    expect([first, second, back, own].map(one => one!.text)).toEqual([
      'newest',
      'older',
      'newest',
      'unfinished'
    ]);
  });

  it('comes back to what was being written from an earlier task that was edited', () => {
    const first = recalled(HISTORY, NO_RECALL, 'unfinished', 1);
    const second = recalled(HISTORY, first!.recall, 'newest, edited', 1);
    expect(second!.recall.own).toBe('unfinished');

    const other = recalled(HISTORY, { index: 0, own: '' }, 'newest, edited', 1);
    expect(other!.recall.own).toBe('newest, edited');
  });

  it('stops at both ends', () => {
    expect(recalled(HISTORY, NO_RECALL, 'x', -1)).toBeNull();
    expect(recalled(HISTORY, { index: 2, own: '' }, 'oldest', 1)).toBeNull();
    expect(recalled([], NO_RECALL, 'x', 1)).toBeNull();
  });
});
