import { ServerConnection } from '@jupyterlab/services';
import { createServer, IncomingMessage, Server, ServerResponse } from 'http';
import { AddressInfo } from 'net';
import { WebSocket as Socket, WebSocketServer } from 'ws';
import { Explorations } from '../explorations';
import { OpenExploration, ServerMessage } from '../protocol';
import { RequestError, Requests } from '../request';
import { opened } from './samples';
import { until } from './waiting';

/** A server that speaks the protocol, with content from the test. */
class ScriptedServer {
  readonly open = new Map<string, OpenExploration>();
  readonly asked: string[] = [];
  epoch = 'first';
  /** Answers held back by path, until a test releases them. */
  readonly held = new Map<string, () => void>();
  readonly holdBack = new Set<string>();
  /** How often a path fails before it is answered. */
  readonly failures = new Map<string, number>();
  /** The number of the last event. */
  last = 10;

  async listen(): Promise<void> {
    this._sockets.on('connection', (socket, request) => this._greet(socket, request));
    await new Promise<void>(resolve => this._http.listen(0, '127.0.0.1', resolve));
  }

  get requests(): Requests {
    const { port } = this._http.address() as AddressInfo;
    const settings = ServerConnection.makeSettings({
      baseUrl: `http://127.0.0.1:${port}/`,
      wsUrl: `ws://127.0.0.1:${port}/`,
      WebSocket: Socket as unknown as typeof WebSocket
    });
    return new Requests(settings);
  }

  send(message: ServerMessage): void {
    this._sockets.clients.forEach(socket => socket.send(JSON.stringify(message)));
  }

  cut(): void {
    this._sockets.clients.forEach(socket => socket.terminate());
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise(resolve => this._sockets.close(resolve));
    const closed = new Promise(resolve => this._http.close(resolve));
    this._http.closeAllConnections();
    await closed;
  }

  private _greet(socket: Socket, request: IncomingMessage): void {
    const url = new URL(request.url!, 'http://x');
    this.asked.push(`events${url.search}`);
    if (url.searchParams.get('epoch') !== this.epoch) {
      socket.send(JSON.stringify({ kind: 'reset', number: 10, epoch: this.epoch }));
    }
  }

  private _answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url!.replace('/exploracoder/api/', '').replace(/\?.*/, '');
    this.asked.push(`${request.method} ${path}`);
    const found = this._find(path);
    const failures = this.failures.get(path) ?? 0;
    if (failures) {
      this.failures.set(path, failures - 1);
      response.writeHead(503);
      response.end('{}');
      return;
    }
    const answer = () => {
      response.writeHead(found ? 200 : 404);
      response.end(JSON.stringify(found ?? { message: `There is no ${path}.` }));
    };
    if (this.holdBack.delete(path)) {
      this.held.set(path, answer);
    } else {
      answer();
    }
  }

  private _find(path: string): object | undefined {
    const summaries = Array.from(this.open.keys(), id => ({ id, is_open: true }));
    const known: { [path: string]: object } = {
      status: {
        epoch: this.epoch,
        number: this.last,
        model: 'scripted',
        model_error: '',
        embedded: {}
      },
      explorations: { explorations: summaries }
    };
    return known[path] ?? this.open.get(path.replace('explorations/', ''));
  }

  private _http: Server = createServer((request, response) => this._answer(request, response));
  private _sockets = new WebSocketServer({ server: this._http });
}

function statusEvent(number: number, status: string, id = 'e1'): ServerMessage {
  return {
    kind: 'exploration',
    number,
    id,
    revision: number,
    path: 'tea-exploration.ipynb',
    kernel_id: 'k1',
    state: 'changed',
    change: { fields: { status }, steps: [], order: null, progress: null, abilities: {} },
    cells: { cells: [], order: null },
    warning: ''
  };
}

describe('Explorations', () => {
  let server: ScriptedServer;
  let explorations: Explorations;

  beforeEach(async () => {
    server = new ScriptedServer();
    server.open.set('e1', opened());
    await server.listen();
    explorations = new Explorations(server.requests);
    await until(() => explorations.open.has('e1'));
    // It asks as it begins, and again with the first greeting.
    await until(() => server.asked.filter(one => one === 'GET status').length === 2);
  });

  afterEach(async () => {
    explorations.dispose();
    await server.close();
  });

  const status = () => explorations.open.get('e1')?.exploration.status;

  it('follows what the server says', async () => {
    server.send(statusEvent(11, 'solved'));

    await until(() => status() === 'solved');
    expect(explorations.status?.model).toBe('scripted');
  });

  it('asks only for what it missed when the connection was cut', async () => {
    server.send(statusEvent(11, 'running'));
    await until(() => status() === 'running');
    server.asked.length = 0;

    server.cut();
    await until(() => server.asked.length > 0 && explorations.isConnected);

    expect(server.asked).toEqual(['events?epoch=first&after=11']);
  });

  it('asks for everything when the server was started again', async () => {
    server.epoch = 'second';
    server.open.clear();
    server.open.set('e2', opened({ exploration: { ...opened().exploration, id: 'e2' } }));

    server.cut();
    await until(() => explorations.open.has('e2'));

    expect(explorations.open.has('e1')).toBe(false);
  });

  it('asks again when an answer fails, and until then knows that it has to', async () => {
    server.epoch = 'second';
    server.open.set('e2', opened({ exploration: { ...opened().exploration, id: 'e2' } }));
    server.failures.set('explorations', 2);
    server.asked.length = 0;

    server.cut();
    await until(() => server.asked.includes('GET explorations'));
    server.cut();
    await until(() => explorations.open.has('e2'));

    // The position is only that of a list that was fetched.
    expect(server.asked.filter(one => one.startsWith('events')).slice(0, 2)).toEqual([
      'events?epoch=first&after=10',
      'events'
    ]);
  });

  it('asks again only for the exploration that could not be fetched', async () => {
    server.open.set('e2', opened({ exploration: { ...opened().exploration, id: 'e2' } }));
    server.failures.set('explorations/e2', 3);
    server.epoch = 'second';
    server.asked.length = 0;

    server.cut();
    await until(() => server.asked.includes('GET explorations/e2'));
    server.send(statusEvent(11, 'running', 'e2'));
    server.send(statusEvent(12, 'solved', 'e2'));
    const replaced = jest.fn();
    explorations.open.get('e1')!.changed.connect(replaced);
    await until(() => server.asked.filter(one => one === 'GET explorations/e2').length === 2);
    server.cut();
    await until(() => explorations.open.has('e2'));

    const count = (asked: string) => server.asked.filter(one => one === asked).length;
    expect(['status', 'explorations', 'explorations/e1'].map(path => count(`GET ${path}`))).toEqual(
      [1, 1, 1]
    );
    expect(count('GET explorations/e2')).toBe(4);
    expect(replaced.mock.calls.length).toBeLessThanOrEqual(1);
    expect(count('events?epoch=second&after=12')).toBe(1);
  });

  it('forgets what is gone when it asks', async () => {
    server.holdBack.add('explorations');
    server.epoch = 'second';
    server.cut();
    await until(() => server.held.has('explorations'));
    // The list still names it, but it is closed by now.
    server.open.delete('e1');
    server.held.get('explorations')!();

    await until(() => !explorations.open.has('e1'));
  });

  it('asks for events that got lost on the way', async () => {
    server.last = 12;
    explorations.wake();
    await until(() => explorations.status?.number === 12);

    await until(() => {
      if (explorations.isConnected) {
        explorations.wake();
      }
      return server.asked.includes('events?epoch=first&after=10');
    });
  });

  it('loses no event that overtakes the answer about a new exploration', async () => {
    const exploration = { ...opened().exploration, id: 'e2' };
    server.open.set('e2', opened({ exploration, number: 12 }));
    server.holdBack.add('explorations/e2');

    server.send(statusEvent(12, 'running', 'e2'));
    server.send(statusEvent(13, 'solved', 'e2'));
    await until(() => server.held.has('explorations/e2'));
    server.held.get('explorations/e2')!();
    await until(() => explorations.open.has('e2'));

    expect(explorations.open.get('e2')!.exploration.status).toBe('solved');
  });

  it('lists what was started in another tab', async () => {
    const exploration = { ...opened().exploration, id: 'e2' };
    server.open.set('e2', opened({ exploration, number: 11 }));

    server.send({ ...statusEvent(11, 'running', 'e2'), state: 'open' } as ServerMessage);

    await until(() => explorations.past.some(one => one.id === 'e2'));
  });

  it('keeps an exploration in view that has ended, until the user goes elsewhere', async () => {
    explorations.show('e1');
    const model = explorations.current!;

    server.send({ ...statusEvent(11, 'solved'), state: 'closed' } as ServerMessage);
    await until(() => !model.isOpen);

    expect(explorations.current).toBe(model);
    expect(explorations.open.has('e1')).toBe(false);
    explorations.show('e1');
    expect(explorations.current).toBe(model);
    explorations.show(null);
    expect(explorations.current).toBeNull();
  });

  it('shows an exploration in view as open again when another tab has resumed it', async () => {
    explorations.show('e1');
    server.send({ ...statusEvent(11, 'solved'), state: 'closed' } as ServerMessage);
    await until(() => !explorations.open.has('e1'));

    server.open.set('e1', opened({ number: 12 }));
    server.send({ ...statusEvent(12, 'waiting'), state: 'open' } as ServerMessage);
    await until(() => explorations.open.has('e1'));

    expect(explorations.current).toBe(explorations.open.get('e1'));
    expect(explorations.current!.isOpen).toBe(true);
  });

  it('gives the reason of a refusal in the server’s own words', async () => {
    const refusal = explorations.search('x', []).catch(error => error);

    expect(await refusal).toEqual(new RequestError('There is no search.', 404));
  });
});
