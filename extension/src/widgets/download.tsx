import * as React from 'react';
import { ModelChoices } from '../modelchoice';
import { EmbeddedModel } from '../protocol';
import { sizeInWords } from '../wording';
import { Action } from './action';
import { ITools } from './tools';

/** Downloads the embedded model: shows progress, and a button to start or stop it. */
export function Download(props: {
  models: ModelChoices;
  embedded: EmbeddedModel;
  isPrimary?: boolean;
  tools: ITools;
}): React.ReactElement {
  const { embedded, isPrimary, models, tools } = props;
  const { trans } = tools;
  const { done_bytes: done, error, is_pulling: isPulling, size_bytes: size } = embedded;
  const left = sizeInWords(trans, size - (done < size ? done : 0));
  return (
    <div className="jp-exploracoder-download">
      {isPulling && <DownloadProgress embedded={embedded} tools={tools} />}
      <div role="alert" className="jp-exploracoder-error">
        {isPulling ? '' : error}
      </div>
      <Action
        label={
          isPulling
            ? trans.__('Cancel the download')
            : done
              ? trans.__('Go on downloading (%1 left)', left)
              : trans.__('Download (%1)', left)
        }
        isPrimary={isPrimary && !isPulling}
        onClick={() => void (isPulling ? models.cancel() : models.pull())}
      />
    </div>
  );
}

function DownloadProgress(props: { embedded: EmbeddedModel; tools: ITools }): React.ReactElement {
  const { trans } = props.tools;
  const { done_bytes: done, note, size_bytes: size } = props.embedded;
  const words = trans.__('%1 of %2', sizeInWords(trans, done), sizeInWords(trans, size));
  const percent = Math.floor((100 * done) / size);
  return (
    <>
      <div
        role="progressbar"
        className="jp-exploracoder-progress"
        aria-label={trans.__('Download of the embedded model')}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={words}
      >
        <div style={{ width: `${percent}%` }} />
      </div>
      <p className="jp-exploracoder-note">{[words, note].filter(Boolean).join(' · ')}</p>
    </>
  );
}
