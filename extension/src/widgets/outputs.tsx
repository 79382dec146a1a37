import { IOutput } from '@jupyterlab/nbformat';
import { OutputAreaModel, SimplifiedOutputArea } from '@jupyterlab/outputarea';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import * as React from 'react';
import { Observation } from '../protocol';
import { distrust } from '../untrusted';

/** A run's outputs as a notebook shows them, but never trusted: nothing runs or is fetched. */
export function Outputs(props: {
  outputs: Observation['outputs'];
  rendermime: IRenderMimeRegistry;
}): React.ReactElement {
  const { outputs, rendermime } = props;
  const host = React.useRef<HTMLDivElement>(null);
  // A layout effect: the widget has to be detached while its host is still in the page.
  React.useLayoutEffect(() => {
    if (!host.current?.isConnected) {
      return;
    }
    const model = new OutputAreaModel({
      values: outputs as unknown as IOutput[],
      trusted: false
    });
    const quiet = rendermime.clone();
    distrust(quiet, () => true);
    const area = new SimplifiedOutputArea({ model, rendermime: quiet });
    Widget.attach(area, host.current);
    return () => {
      area.dispose();
      model.dispose();
    };
  }, [outputs, rendermime]);
  return <div className="jp-exploracoder-outputs" ref={host} />;
}
