import { Dialog, showDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Replayed } from './protocol';
import { ReplayedCells } from './widgets/replayedcells';

/** Show the result of rerunning the accepted cells. */
export async function showReplayed(trans: TranslationBundle, replayed: Replayed): Promise<void> {
  await showDialog({
    title: trans.__('Replay of %1', replayed.path),
    body: <ReplayedCells replayed={replayed} trans={trans} />,
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}
