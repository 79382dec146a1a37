import { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';
import { StreamEvent } from '../protocol';
import { IExplorationModel } from '../tokens';

const LINES = 14;

/** What the model is writing at this moment: the end of it, as it comes. */
export function LiveText(props: {
  model: IExplorationModel;
  trans: TranslationBundle;
}): React.ReactElement {
  const { model, trans } = props;
  return (
    <UseSignal signal={model.streamed}>
      {() => model.stream && <Text stream={model.stream} trans={trans} />}
    </UseSignal>
  );
}

function Text(props: { stream: StreamEvent; trans: TranslationBundle }): React.ReactElement {
  const { stream, trans } = props;
  const lines = stream.text.trimEnd().split('\n').slice(-LINES);
  return (
    // Who hears the page is told what is done, not each word of it.
    <div className="jp-exploracoder-livetext" role="group" aria-label={trans.__('Being written')}>
      <span className="jp-exploracoder-note">
        {trans.__('The model is writing · %1 s', Math.round(stream.seconds))}
      </span>
      <pre className="jp-exploracoder-code">{lines.join('\n')}</pre>
    </div>
  );
}
