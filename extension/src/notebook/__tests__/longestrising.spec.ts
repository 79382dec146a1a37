import { longestRising } from '../longestrising';
import { seeded } from './cells';

describe('longestRising', () => {
  it('leaves as many as possible where they are', () => {
    expect(longestRising([2, 0, 1, 3], [])).toEqual([1, 2, 3]);
    expect(longestRising([], [])).toEqual([]);
  });

  it('holds what is pinned', () => {
    expect(longestRising([2, 0, 1, 3], [true, false, false, false])).toEqual([0, 3]);
  });

  it('is as long as the longest that trying all of them finds', () => {
    const random = seeded(1);
    for (let round = 0; round < 100; round++) {
      const values = [0, 1, 2, 3, 4, 5, 6].sort(() => random() - 0.5);
      const pinned = values.map((_, position) => position === round % 7);
      const found = longestRising(values, pinned);

      expect(found).toContain(round % 7);
      expect(found.length).toBe(longest(values, round % 7));
    }
  });
});

/** The length of the longest rising run that includes position `pin`, by brute force. */
function longest(values: number[], pin: number): number {
  let best = 0;
  for (let mask = 0; mask < 2 ** values.length; mask++) {
    const run = values.filter((_, position) => mask & (1 << position));
    if (mask & (1 << pin) && run.every((value, index) => !index || run[index - 1] < value)) {
      best = Math.max(best, run.length);
    }
  }
  return best;
}
