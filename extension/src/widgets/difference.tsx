import { TranslationBundle } from '@jupyterlab/translation';
import { Change, diffLines } from 'diff';
import * as React from 'react';

type Mark = '+' | '-' | ' ';

interface ILine {
  readonly mark: Mark;
  readonly text: string;
}

/** Equal lines that are left out; their number is shown instead. */
interface IGap {
  readonly left: number;
}

// A slower comparison is given up, and all lines count as removed and added.
const MOST_MS = 1000;

/**
 * The differences between two texts, line by line, marked by a character and, for screen readers,
 * by a word.
 *
 * With `around`, only so many equal lines are shown beside those that differ.
 */
export function Difference(props: {
  before: string;
  after: string;
  label?: string;
  around?: number;
  trans: TranslationBundle;
}): React.ReactElement {
  const { after, around, before, label, trans } = props;
  const lines = React.useMemo(() => compared(before, after), [before, after]);
  return (
    <pre
      className="jp-exploracoder-code"
      tabIndex={0}
      role="group"
      aria-label={label ?? trans.__('Difference')}
    >
      {shown(lines, around).map((part, index) =>
        'left' in part ? (
          <Gap key={index} count={part.left} trans={trans} />
        ) : (
          <Line key={index} line={part} trans={trans} />
        )
      )}
    </pre>
  );
}

function Line(props: { line: ILine; trans: TranslationBundle }): React.ReactElement {
  const { line, trans } = props;
  const { mark, text } = line;
  const word = mark === '+' ? trans.__('added') : mark === '-' ? trans.__('removed') : '';
  return (
    <span className="jp-exploracoder-line" data-mark={mark}>
      <span aria-hidden="true">{`${mark} `}</span>
      {word && <span className="jp-exploracoder-hidden">{`${word}: `}</span>}
      {`${text}\n`}
    </span>
  );
}

function Gap(props: { count: number; trans: TranslationBundle }): React.ReactElement {
  const { count, trans } = props;
  return (
    <span className="jp-exploracoder-line" data-mark="gap">
      {`${trans._n('… %1 equal line', '… %1 equal lines', count)}\n`}
    </span>
  );
}

function compared(before: string, after: string): ReadonlyArray<ILine> {
  const [old, now] = [ended(before), ended(after)];
  const parts = diffLines(old, now, { timeout: MOST_MS }) ?? [
    { value: old, removed: true },
    { value: now, added: true }
  ];
  return parts
    .filter(part => part.value)
    .flatMap(part => {
      const mark = markOf(part);
      return part.value
        .replace(/\n$/, '')
        .split('\n')
        .map(text => ({ mark, text }));
    });
}

function markOf(part: Partial<Change>): Mark {
  return part.added ? '+' : part.removed ? '-' : ' ';
}

/** The lines at most `around` away from one that differs, and the gaps between them. */
function shown(lines: ReadonlyArray<ILine>, around = Infinity): ReadonlyArray<ILine | IGap> {
  const changed = lines.flatMap((line, index) => (line.mark === ' ' ? [] : [index]));
  const parts: Array<ILine | IGap> = [];
  let left = 0;
  let next = 0;
  lines.forEach((line, index) => {
    while (next < changed.length && changed[next] + around < index) {
      next += 1;
    }
    if (around === Infinity || (next < changed.length && changed[next] - around <= index)) {
      parts.push(...(left ? [{ left }] : []), line);
      left = 0;
    } else {
      left += 1;
    }
  });
  return left ? [...parts, { left }] : parts;
}

// A last line without a newline would differ from one with it.
function ended(text: string): string {
  return !text || text.endsWith('\n') ? text : `${text}\n`;
}
