import { IOutput } from '@jupyterlab/nbformat';
import { OutputAreaModel, SimplifiedOutputArea } from '@jupyterlab/outputarea';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import * as React from 'react';
import { Observation } from '../protocol';

/** What a run put out, as a notebook shows it, but never trusted: no script of it runs. */
export function Outputs(props: {
  outputs: Observation['outputs'];
  rendermime: IRenderMimeRegistry;
}): React.ReactElement {
  const { outputs, rendermime } = props;
  const host = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (!host.current) {
      return;
    }
    const model = new OutputAreaModel({
      values: outputs as unknown as IOutput[],
      trusted: false
    });
    const area = new SimplifiedOutputArea({ model, rendermime });
    Widget.attach(area, host.current);
    return () => {
      // React may have taken the host out of the page already.
      if (area.isAttached && area.node.isConnected) {
        Widget.detach(area);
      }
      area.dispose();
      model.dispose();
    };
  }, [outputs, rendermime]);
  return <div className="jp-exploracoder-outputs" ref={host} />;
}
