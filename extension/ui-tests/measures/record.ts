import * as fs from 'fs';
import * as path from 'path';

/** Add figures to the file that FIGURES names, one JSON object a line, and print them. */
export function record(name: string, figures: { [name: string]: number }): void {
  const line = JSON.stringify({ name, ...figures });
  const file = process.env.FIGURES ?? path.resolve('figures', 'figures.jsonl');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.appendFileSync(file, `${line}\n`);
  console.log(line);
}

export function median(values: number[]): number {
  return quantile(values, 0.5);
}

/** The value below which such a share of the values lies. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const place = Math.min(sorted.length - 1, Math.floor(share * sorted.length));
  return sorted[place];
}
