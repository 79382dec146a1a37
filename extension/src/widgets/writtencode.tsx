import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Search } from '../protocol';
import { Code } from './code';
import { ITools } from './tools';

/** Code with a card for each search that the model made, above the line that it was made for. */
export function WrittenCode(props: {
  code: string;
  searches: Search[];
  tools: Pick<ITools, 'languages' | 'trans'>;
}): React.ReactElement {
  const { code, searches, tools } = props;
  const { languages, trans } = tools;
  const pieces = cut(code, searches);
  return (
    <>
      {pieces.map((piece, index) => (
        <React.Fragment key={index}>
          {piece.searches.map((search, place) => (
            <Card key={place} search={search} trans={trans} />
          ))}
          <Code
            code={piece.code}
            label={
              pieces.length === 1
                ? trans.__('Code of the solution')
                : trans.__('Code of the solution from line %1', piece.line)
            }
            languages={languages}
          />
        </React.Fragment>
      ))}
    </>
  );
}

function Card(props: { search: Search; trans: TranslationBundle }): React.ReactElement {
  const { search, trans } = props;
  return (
    <p
      className="jp-exploracoder-source jp-exploracoder-card"
      role="note"
      aria-label={trans.__('Looked up while writing')}
    >
      <span>{search.query || trans.__('A search')}</span>
      <code>{search.answer || search.note || trans.__('Nothing was found.')}</code>
    </p>
  );
}

interface IPiece {
  line: number;
  code: string;
  searches: Search[];
}

/** The code in pieces, each preceded by its searches; those made before any code come first. */
function cut(code: string, searches: Search[]): IPiece[] {
  const lines = code.split('\n');
  const pieces: IPiece[] = [];
  let kept: string[] = [];
  for (const [index, text] of lines.entries()) {
    const line = index + 1;
    const here = searches.filter(one => Math.min(one.line ?? 1, lines.length) === line);
    if (here.length > 0 || line === 1) {
      kept = [];
      pieces.push({ line, code: '', searches: here });
    }
    kept.push(text);
    pieces[pieces.length - 1].code = kept.join('\n');
  }
  return pieces;
}
