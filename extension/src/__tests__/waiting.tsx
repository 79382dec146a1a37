import { ServerConnection } from '@jupyterlab/services';
import { ReactWidget } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import { IncomingMessage, Server, ServerResponse } from 'http';
import { AddressInfo } from 'net';
import * as React from 'react';
import { Requests } from '../request';

/** Waits until something is true, for 5 s at most. */
export async function until(isTrue: () => boolean): Promise<void> {
  const end = Date.now() + 5_000;
  while (!isTrue()) {
    if (Date.now() > end) {
      throw new Error('It did not come about within 5 s.');
    }
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

/** Starts a server in place of Jupyter's; what asks it. */
export async function requestsTo(server: Server): Promise<Requests> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/`;
  return new Requests(ServerConnection.makeSettings({ baseUrl }));
}

/** The address that is asked for, below that of ours. */
export function pathOf(request: IncomingMessage): string {
  return request.url!.replace('/exploracoder/api/', '').replace(/\?.*/, '');
}

export function reply(response: ServerResponse, status: number, answer: unknown): void {
  response.writeHead(status, { Connection: 'close' });
  response.end(JSON.stringify(answer));
}

/**
 * Puts an element on the page, and waits until React has rendered it and run its effects: a
 * widget's `renderPromise` may resolve earlier.
 */
export async function draw(
  element: React.ReactElement,
  isDrawn: (node: HTMLElement) => boolean = () => true
): Promise<HTMLElement> {
  let isThere = false;
  const widget = ReactWidget.create(<Effect run={() => void (isThere = true)}>{element}</Effect>);
  Widget.attach(widget, document.body);
  await until(() => isThere && isDrawn(widget.node));
  return widget.node;
}

/** Runs its effect after those of its children. */
function Effect(props: { run: () => void; children: React.ReactNode }): React.ReactElement {
  React.useEffect(props.run, []);
  return <>{props.children}</>;
}
