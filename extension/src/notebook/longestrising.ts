/**
 * Positions of the longest rising subsequence of `values` with all pins.
 *
 * The values are distinct. If the pinned ones do not rise, not all of them can be kept: the
 * earlier ones are.
 */
export function longestRising(
  values: ReadonlyArray<number>,
  pinned: ReadonlyArray<boolean>
): number[] {
  const pins = risingPins(values, pinned);
  const fits = (position: number) =>
    pins.every(pin => Math.sign(pin - position) === Math.sign(values[pin] - values[position]));
  const positions = values.map((_, position) => position).filter(fits);
  const best: number[] = [];
  const before = new Map<number, number>();
  for (const position of positions) {
    // `best[n]` ends the rising run of n + 1 values with the smallest last value.
    let length = 0;
    while (length < best.length && values[best[length]] < values[position]) {
      length++;
    }
    if (length > 0) {
      before.set(position, best[length - 1]);
    }
    best[length] = position;
  }
  const run: number[] = [];
  let last: number | undefined = best[best.length - 1];
  while (last !== undefined) {
    run.unshift(last);
    last = before.get(last);
  }
  return run;
}

function risingPins(values: ReadonlyArray<number>, pinned: ReadonlyArray<boolean>): number[] {
  const pins: number[] = [];
  values.forEach((value, position) => {
    const last = pins[pins.length - 1];
    if (pinned[position] && (last === undefined || values[last] < value)) {
      pins.push(position);
    }
  });
  return pins;
}
