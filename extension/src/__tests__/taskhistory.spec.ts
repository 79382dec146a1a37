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

  it('loses neither what was being written nor what an earlier task was edited to', () => {
    const first = recalled(HISTORY, NO_RECALL, 'unfinished', 1);
    const own = recalled(HISTORY, first!.recall, 'newest, edited', -1);
    const again = recalled(HISTORY, own!.recall, own!.text, 1);
    const second = recalled(HISTORY, again!.recall, again!.text, 1);
    const back = recalled(HISTORY, second!.recall, second!.text, -1);

    expect([own, again, second, back].map(one => one!.text)).toEqual([
      'unfinished',
      'newest, edited',
      'older',
      'newest, edited'
    ]);
  });

  it('stops at both ends', () => {
    expect(recalled(HISTORY, NO_RECALL, 'x', -1)).toBeNull();
    expect(recalled(HISTORY, { index: 2, texts: {} }, 'oldest', 1)).toBeNull();
    expect(recalled([], NO_RECALL, 'x', 1)).toBeNull();
  });
});
