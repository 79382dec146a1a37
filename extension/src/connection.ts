import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ServerMessage } from './protocol';

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;

/** A WebSocket that reconnects, at growing intervals, whenever it is lost. */
export class Connection implements IDisposable {
  /** `open` makes a socket that requests all events since the last one. */
  constructor(private readonly _open: () => WebSocket) {
    this._connect();
  }

  get isConnected(): boolean {
    return this._socket?.readyState === WebSocketState.open;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Emits whether the connection is open. */
  get connectedChanged(): ISignal<this, boolean> {
    return this._connectedChanged;
  }

  get received(): ISignal<this, ServerMessage> {
    return this._received;
  }

  /** Connect now, because the connection is probably gone, or possible again. */
  reconnect(): void {
    if (!this._isDisposed) {
      this._delay = FIRST_DELAY_MS;
      this._drop();
      this._connect();
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._drop();
      Signal.clearData(this);
    }
  }

  private _connect(): void {
    clearTimeout(this._timer);
    const socket = this._open();
    this._socket = socket;
    socket.onopen = () => {
      this._delay = FIRST_DELAY_MS;
      this._connectedChanged.emit(true);
    };
    socket.onmessage = event => {
      this._received.emit(JSON.parse(event.data) as ServerMessage);
    };
    // An error is always followed by a close.
    socket.onclose = () => this._retry();
  }

  private _retry(): void {
    this._drop();
    this._connectedChanged.emit(false);
    // Random, so that not all tabs reconnect at the same time.
    const delay = this._delay * (0.75 + Math.random() / 2);
    this._timer = setTimeout(() => this._connect(), delay);
    this._delay = Math.min(this._delay * 2, MAX_DELAY_MS);
  }

  private _drop(): void {
    clearTimeout(this._timer);
    const socket = this._socket;
    this._socket = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      // To one that is still connecting, closing is an error.
      socket.onerror = () => undefined;
      socket.close();
    }
  }

  private _socket: WebSocket | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _delay = FIRST_DELAY_MS;
  private _isDisposed = false;
  private _connectedChanged = new Signal<this, boolean>(this);
  private _received = new Signal<this, ServerMessage>(this);
}

// A custom WebSocket class need not have the constants.
enum WebSocketState {
  open = 1
}
