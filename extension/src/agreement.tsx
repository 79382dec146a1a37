import { Dialog, showDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Preview, Untrusted } from './protocol';
import { RequestError } from './request';
import { Code } from './widgets/code';

/**
 * Send a request that runs a notebook's code, after asking the user if the notebook was not made
 * here. Returns null if the user does not agree.
 */
export async function withAgreement<T>(
  trans: TranslationBundle,
  path: string,
  ask: (agreed: string) => Promise<T>
): Promise<T | null> {
  let agreed = '';
  for (;;) {
    try {
      return await ask(agreed);
    } catch (error) {
      // Show the preview again if it has changed since.
      const preview = previewIn(error);
      if (!preview) {
        throw error;
      }
      if (!(await isAgreedTo(trans, path, preview))) {
        return null;
      }
      agreed = preview.digest;
    }
  }
}

/** What the refused notebook would run; null for any other error. */
function previewIn(error: unknown): Preview | null {
  const body = error instanceof RequestError ? (error.body as Partial<Untrusted> | null) : null;
  return body?.preview ?? null;
}

async function isAgreedTo(
  trans: TranslationBundle,
  path: string,
  preview: Preview
): Promise<boolean> {
  const { button } = await showDialog({
    title: trans.__('Run a notebook that was not made here?'),
    body: <WhatWouldRun path={path} preview={preview} trans={trans} />,
    buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: trans.__('Run it') })],
    defaultButton: 0
  });
  return button.accept;
}

/** What a notebook would run and read. */
export function WhatWouldRun(props: {
  path: string;
  preview: Preview;
  trans: TranslationBundle;
}): React.ReactElement {
  const { path, preview, trans } = props;
  const rows: [string, string][] = [
    [trans.__('Pieces of code'), `${preview.cells}`],
    [trans.__('Check'), preview.check ? trans.__('yes') : trans.__('none')],
    [trans.__('Libraries'), preview.libraries.join(', ')],
    [trans.__('Python'), preview.python],
    [trans.__('Could read'), preview.reads.join(', ')],
    [trans.__('Sandbox'), preview.sandbox],
    [trans.__('Copies of your variables'), preview.variables.join(', ')]
  ];
  return (
    <div className="jp-exploracoder-agreement">
      <p>{trans.__('%1 was not made here. It would run and read the following:', path)}</p>
      <dl>
        {rows
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <React.Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </React.Fragment>
          ))}
      </dl>
      {preview.warning && <p className="jp-exploracoder-warning">{preview.warning}</p>}
      <Code code={preview.code} label={trans.__('Code that would run')} languages={null} />
    </div>
  );
}
