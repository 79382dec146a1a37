import * as React from 'react';
import { ServerStatus } from '../protocol';
import { Action } from './action';
import { ITools } from './tools';

/** What stands in the way: no connection, or no model; and what to do about it. */
export function Problem(props: {
  status: ServerStatus | null;
  isConnected: boolean;
  tools: ITools;
}): React.ReactElement | null {
  const { isConnected, status, tools } = props;
  const { trans } = tools;
  if (!isConnected) {
    return (
      <p role="alert" className="jp-exploracoder-warning">
        {status
          ? trans.__(
              'The connection to the server is lost. Work on the server continues, and this page catches up when the connection is back.'
            )
          : trans.__('Connecting to the server…')}
      </p>
    );
  }
  if (!status?.model_error) {
    return null;
  }
  return (
    <div role="alert" className="jp-exploracoder-warning">
      <p>{status.model_error}</p>
      <Action label={trans.__('Settings')} onClick={() => openSettings(tools)} />
    </div>
  );
}

/** Which model and which sandbox it works with, in words. */
export function Means(props: { status: ServerStatus; tools: ITools }): React.ReactElement {
  const { status, tools } = props;
  const { trans } = tools;
  return (
    <p className="jp-exploracoder-note">
      {trans.__('Model: %1', status.model || trans.__('none'))}
      <br />
      {status.is_sandboxed
        ? trans.__('Sandbox: %1', status.sandbox)
        : trans.__('No sandbox: %1', status.sandbox)}
      <br />
      <button type="button" className="jp-exploracoder-link" onClick={() => openSettings(tools)}>
        {trans.__('Settings')}
      </button>
    </p>
  );
}

function openSettings(tools: ITools): void {
  tools.execute('settingeditor:open', { query: 'ExploraCoder' });
}
