import { PromiseDelegate } from '@lumino/coreutils';
import { Connection } from './connection';
import { Held } from './protocol';

/** The notebooks that this tab has said it saves; said again after each reconnection. */
export class Holds {
  constructor(private readonly _connection: Connection) {
    _connection.connectedChanged.connect((_, isConnected) => {
      if (isConnected) {
        this._wanted.forEach((_, id) => this._say(id));
      }
    });
  }

  /** Ask to save an exploration's notebook; answered once there is a connection. */
  hold(id: string): Promise<Held> {
    const asked = this._asked.get(id) ?? new PromiseDelegate<Held>();
    this._asked.set(id, asked);
    this._wanted.add(id);
    this._say(id);
    return asked.promise;
  }

  release(id: string): void {
    if (this._wanted.delete(id)) {
      this._connection.send({ kind: 'release', id });
      this._asked.get(id)?.reject(new Error('The notebook was given back.'));
      this._asked.delete(id);
    }
  }

  /** The server's answer to a hold. */
  answer(held: Held): void {
    this._asked.get(held.id)?.resolve(held);
    this._asked.delete(held.id);
  }

  private _say(id: string): void {
    this._connection.send({ kind: 'hold', id });
  }

  private _wanted = new Set<string>();
  private _asked = new Map<string, PromiseDelegate<Held>>();
}
