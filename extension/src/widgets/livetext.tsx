import { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';
import { StreamEvent } from '../protocol';
import { IExplorationModel } from '../tokens';

const LINES = 14;

/** The last lines of what the model is writing, as they arrive. */
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
    // Screen readers announce what is done, not each word.
    <div className="jp-exploracoder-livetext" role="group" aria-label={trans.__('Being written')}>
      <span className="jp-exploracoder-note">
        {trans.__('The model is writing · %1 s', Math.round(stream.seconds))}
      </span>
      <pre className="jp-exploracoder-code">{lines.join('\n')}</pre>
    </div>
  );
}
