import { TranslationBundle } from '@jupyterlab/translation';
import { diffLines } from 'diff';
import * as React from 'react';

/** How to get from one code to another: a line each, marked by its first character. */
export function Difference(props: {
  before: string;
  after: string;
  trans: TranslationBundle;
}): React.ReactElement {
  const { after, before, trans } = props;
  const lines = diffLines(ended(before), ended(after)).flatMap(part =>
    part.value
      .replace(/\n$/, '')
      .split('\n')
      .map(text => ({
        text,
        mark: part.added ? '+' : part.removed ? '-' : ' '
      }))
  );
  return (
    <pre
      className="jp-exploracoder-code"
      tabIndex={0}
      role="group"
      aria-label={trans.__('Difference')}
    >
      {lines.map(({ mark, text }, index) => (
        <span key={index} className="jp-exploracoder-line" data-mark={mark}>
          {`${mark} ${text}\n`}
        </span>
      ))}
    </pre>
  );
}

// A last line without an end would differ from the same line with one.
function ended(code: string): string {
  return code.endsWith('\n') ? code : `${code}\n`;
}
