import * as React from 'react';
import { Action } from './action';
import { ITools } from './tools';

interface IBoundaryProps {
  tools: ITools;
  children: React.ReactNode;
}

/** Keeps an error in one part from breaking the whole sidebar. */
export class Boundary extends React.Component<IBoundaryProps, { fault: string }> {
  constructor(props: IBoundaryProps) {
    super(props);
    this.state = { fault: '' };
  }

  static getDerivedStateFromError(error: unknown): { fault: string } {
    return { fault: `${error}` };
  }

  override render(): React.ReactNode {
    const { children, tools } = this.props;
    const { trans } = tools;
    if (!this.state.fault) {
      return children;
    }
    return (
      <div role="alert" className="jp-exploracoder-warning">
        <p>
          {trans.__(
            'This cannot be shown: %1. The exploration itself continues.',
            this.state.fault
          )}
        </p>
        <Action label={trans.__('Show again')} onClick={() => this.setState({ fault: '' })} />
      </div>
    );
  }
}
