import * as React from 'react';
import { ServerStatus } from '../protocol';
import { ITools } from './tools';

/** A warning that there is no connection. */
export function Problem(props: {
  status: ServerStatus | null;
  isConnected: boolean;
  tools: ITools;
}): React.ReactElement | null {
  const { isConnected, status, tools } = props;
  const { trans } = tools;
  if (isConnected) {
    return null;
  }
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
