import * as React from 'react';
import { EMBEDDED, ModelChoices } from '../modelchoice';
import { ServerStatus } from '../protocol';
import { Action } from './action';
import { Download } from './download';
import { ITools } from './tools';

/** Replaces the explore button while there is no model: how to get one. */
export function FirstModel(props: {
  models: ModelChoices;
  status: ServerStatus;
  /** Show all models to choose from. */
  onMore: () => void;
  tools: ITools;
}): React.ReactElement {
  const { models, onMore, status, tools } = props;
  const { trans } = tools;
  const { embedded, isEmbedded, servers } = models;
  React.useEffect(() => void models.look(), [models]);
  const found = (servers ?? []).flatMap(({ base_url, models: names, title }) =>
    names.map(name => ({ name, base_url, title }))
  );
  return (
    <div
      role="group"
      aria-label={trans.__('A model first')}
      className="jp-exploracoder-first-model"
    >
      <p>
        {isEmbedded
          ? trans.__(
              'To explore, a model is needed. The embedded one runs on this machine, without a key or an account; it is fetched once.'
            )
          : status.model_error}
      </p>
      {embedded && isEmbedded && (
        <Download models={models} embedded={embedded} isPrimary tools={tools} />
      )}
      {found.length > 0 && <p>{trans.__('Or use what runs on this machine already:')}</p>}
      <div className="jp-exploracoder-actions">
        {found.slice(0, MOST_FOUND).map(({ base_url, name, title }) => (
          <Action
            key={`${base_url} ${name}`}
            label={trans.__('Use %1 (%2)', name, title)}
            onClick={() => models.choose({ name, base_url })}
          />
        ))}
        {!isEmbedded && (
          <Action
            label={trans.__('Use the embedded model')}
            onClick={() => models.choose(EMBEDDED)}
          />
        )}
        <Action label={trans.__('Another model…')} onClick={onMore} />
      </div>
    </div>
  );
}

// The others are in the menu.
const MOST_FOUND = 3;
