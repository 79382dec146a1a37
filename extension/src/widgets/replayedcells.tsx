import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Replayed, ReplayedCell, VersionChange } from '../protocol';
import { Difference } from './difference';

// Equal lines shown before and after those that differ.
const AROUND = 2;

/** Shows which cells gave the same result again, and how the others differ. */
export function ReplayedCells(props: {
  replayed: Replayed;
  trans: TranslationBundle;
}): React.ReactElement {
  const { replayed, trans } = props;
  const { cells, versions } = replayed;
  const same = cells.filter(cell => cell.result === 'same').length;
  return (
    <div
      className="jp-exploracoder-replayed"
      tabIndex={0}
      role="group"
      aria-label={trans.__('Results of the cells')}
    >
      {versions.map(one => (
        <p key={one.library}>{versionWords(trans, one)}</p>
      ))}
      <p>{trans.__('%1 of %2 cells gave the same result.', same, cells.length)}</p>
      <ul aria-label={trans.__('Cells')}>
        {cells.map(cell => (
          <Cell key={cell.cell} cell={cell} trans={trans} />
        ))}
      </ul>
    </div>
  );
}

function Cell(props: { cell: ReplayedCell; trans: TranslationBundle }): React.ReactElement {
  const { cell, trans } = props;
  const name = cell.goal || cell.cell;
  return (
    <li data-result={cell.result}>
      <p>
        <strong>{resultWords(trans, cell.result)}</strong> {name}
      </p>
      {cell.versions.map(one => (
        <p key={one.library} className="jp-exploracoder-note">
          {versionWords(trans, one)}
        </p>
      ))}
      {cell.result !== 'same' && <Outputs cell={cell} name={name} trans={trans} />}
    </li>
  );
}

function Outputs(props: {
  cell: ReplayedCell;
  name: string;
  trans: TranslationBundle;
}): React.ReactElement {
  const { cell, name, trans } = props;
  const { before, now } = cell;
  if (before === now) {
    return <p className="jp-exploracoder-note">{trans.__('The output is the same as before.')}</p>;
  }
  return (
    <Difference
      before={before}
      after={now}
      around={AROUND}
      label={trans.__('Difference of the outputs: %1', name)}
      trans={trans}
    />
  );
}

function versionWords(trans: TranslationBundle, { before, library, now }: VersionChange): string {
  return trans.__(
    'Library version changed: %1 %2 → %3',
    library,
    before,
    now || trans.__('unknown')
  );
}

function resultWords(trans: TranslationBundle, result: ReplayedCell['result']): string {
  switch (result) {
    case 'same':
      return trans.__('✓ same');
    case 'changed':
      return trans.__('≠ changed');
    case 'failed':
      return trans.__('✗ failed');
  }
}
