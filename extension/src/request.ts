import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { TextParts } from './protocol';
import { wordsOf } from './wording';

const NAMESPACE = 'exploracoder/api';

/** A refused request, in the server's own words. */
export class RequestError extends Error {
  constructor(
    message: string,
    /** The HTTP status; 0 when the server could not be reached. */
    readonly status: number,
    /** What else the server said, if anything. */
    readonly body: unknown = null
  ) {
    super(message);
    this.name = 'RequestError';
  }
}

/** Requests to the server extension; the only place that fetches. */
export class Requests {
  constructor(
    readonly settings: ServerConnection.ISettings,
    trans?: TranslationBundle
  ) {
    this._trans = trans ?? nullTranslator.load('exploracoder');
  }

  get<T>(path: string): Promise<T> {
    return this._ask<T>(path, { method: 'GET' });
  }

  post<T>(path: string, body: object): Promise<T> {
    return this._ask<T>(path, { method: 'POST', body: JSON.stringify(body) });
  }

  put<T>(path: string, body: object): Promise<T> {
    return this._ask<T>(path, { method: 'PUT', body: JSON.stringify(body) });
  }

  delete<T = void>(path: string): Promise<T> {
    return this._ask<T>(path, { method: 'DELETE' });
  }

  /** A URL for the browser itself to fetch, such as a download. */
  url(path: string): string {
    return URLExt.join(this.settings.baseUrl, NAMESPACE, path);
  }

  /** A WebSocket that receives the events after a position. */
  socket(query: { epoch: string; after: number } | null): WebSocket {
    const { settings } = this;
    const asked = query ? { epoch: query.epoch, after: `${query.after}` } : undefined;
    const token = settings.appendToken && settings.token ? { token: settings.token } : {};
    const parameters = URLExt.objectToQueryString({ ...asked, ...token });
    const url = URLExt.join(settings.wsUrl, NAMESPACE, 'events');
    return new settings.WebSocket(parameters === '?' ? url : url + parameters);
  }

  private async _ask<T>(path: string, init: RequestInit): Promise<T> {
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(this.url(path), init, this.settings);
    } catch (error) {
      throw new RequestError(this._trans.__('The server cannot be reached: %1', `${error}`), 0);
    }
    const text = await response.text();
    if (!response.ok) {
      const body = bodyOf(text);
      throw new RequestError(messageOf(this._trans, body, response), response.status, body);
    }
    return (text ? JSON.parse(text) : undefined) as T;
  }

  private readonly _trans: TranslationBundle;
}

/** A path of segments, each URI-encoded. */
export function pathOf(...segments: string[]): string {
  return segments.map(encodeURIComponent).join('/');
}

/** A query string without empty values. */
export function queryOf(values: { [name: string]: string | null }): string {
  const given = Object.entries(values).filter(([, value]) => value);
  return given.length ? `?${new URLSearchParams(given as [string, string][])}` : '';
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page, for example: the status says more than its markup.
    return null;
  }
}

function messageOf(trans: TranslationBundle, body: unknown, response: Response): string {
  const { message, parts } = (body ?? {}) as { message?: unknown; parts?: TextParts };
  const { status, statusText } = response;
  if (parts) {
    return wordsOf(trans, parts);
  }
  return typeof message === 'string' && message
    ? message
    : trans.__('The server answered %1', `${status} ${statusText}`.trim());
}
