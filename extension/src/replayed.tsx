import { Dialog, showDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Replayed, ReplayedCell } from './protocol';

/** Show what running the accepted cells again has shown. */
export async function showReplayed(trans: TranslationBundle, replayed: Replayed): Promise<void> {
  await showDialog({
    title: trans.__('Replay of %1', replayed.path),
    body: <ReplayedCells replayed={replayed} trans={trans} />,
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}

function ReplayedCells(props: {
  replayed: Replayed;
  trans: TranslationBundle;
}): React.ReactElement {
  const { replayed, trans } = props;
  const { cells, versions } = replayed;
  const same = cells.filter(cell => cell.result === 'same').length;
  return (
    <div className="jp-exploracoder-replayed">
      {versions.map(one => (
        <p key={one.library}>
          {trans.__(
            'Library version changed: %1 %2 → %3',
            one.library,
            one.before,
            one.now || trans.__('unknown')
          )}
        </p>
      ))}
      <p>{trans.__('%1 of %2 cells gave the same again.', same, cells.length)}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{trans.__('Cell')}</th>
            <th scope="col">{trans.__('Result')}</th>
            <th scope="col">{trans.__('Before')}</th>
            <th scope="col">{trans.__('Now')}</th>
          </tr>
        </thead>
        <tbody>
          {cells.map(cell => (
            <Row key={cell.cell} cell={cell} trans={trans} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({
  cell,
  trans
}: {
  cell: ReplayedCell;
  trans: TranslationBundle;
}): React.ReactElement {
  const isSame = cell.result === 'same';
  return (
    <tr data-result={cell.result}>
      <th scope="row">{cell.goal || cell.cell}</th>
      <td>{resultWords(trans, cell.result)}</td>
      <td>{isSame ? '' : <pre>{cell.before}</pre>}</td>
      <td>
        <pre>{cell.now}</pre>
      </td>
    </tr>
  );
}

function resultWords(trans: TranslationBundle, result: ReplayedCell['result']): string {
  switch (result) {
    case 'same':
      return trans.__('same');
    case 'changed':
      return trans.__('changed');
    case 'failed':
      return trans.__('failed');
  }
}
