import { PromiseDelegate } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { ISignal, Signal } from '@lumino/signaling';
import { Connection } from './connection';
import { Draft } from './draft';
import { Lookups } from './lookups';
import { ExplorationModel } from './model';
import { ModelChoices } from './modelchoice';
import {
  ApiDoc,
  DocPage,
  ExplorationEvent,
  Explorations as ExplorationList,
  IndexedLibrary,
  Libraries,
  LibraryEvent,
  ModelChoice,
  NewExploration,
  OpenExploration,
  Replayed,
  SearchResults,
  ServerMessage,
  ServerStatus,
  SuggestionRequest,
  Suggestions,
  Summary
} from './protocol';
import { pathOf, queryOf, RequestError, Requests } from './request';
import { IExplorationModel, IExplorations, ILookups } from './tokens';

const CHECK_INTERVAL_MS = 30_000;
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 10_000;

interface IPosition {
  epoch: string;
  after: number;
}

/** The explorations of a server, kept up to date by its events. */
export class Explorations implements IExplorations, IDisposable {
  constructor(private readonly _requests: Requests) {
    this._connection = new Connection(() => _requests.socket(this._position));
    this.lookups = new Lookups(_requests);
    this.models = new ModelChoices(_requests);
    this.models.changed.connect(() => this._changed.emit());
    // A client without a position gets a `reset`, and then asks for everything.
    this._connection.connectedChanged.connect(() => this._changed.emit());
    this._connection.received.connect(this._onMessage, this);
    this._check = new Poll({
      name: 'exploracoder:status',
      factory: () => this._askStatus(),
      frequency: { interval: CHECK_INTERVAL_MS, backoff: true },
      standby: 'when-hidden'
    });
  }

  readonly lookups: ILookups;
  readonly models: ModelChoices;
  readonly draft = new Draft();

  /** Resolves when the open explorations are known for the first time. */
  get ready(): Promise<void> {
    return this._ready.promise;
  }

  get status(): ServerStatus | null {
    return this._status;
  }

  get isConnected(): boolean {
    return this._connection.isConnected;
  }

  get open(): ReadonlyMap<string, IExplorationModel> {
    return this._open;
  }

  get past(): ReadonlyArray<Summary> {
    return this._past;
  }

  get current(): IExplorationModel | null {
    return this._current;
  }

  /** Ongoing and finished indexing, by target. */
  get indexing(): ReadonlyMap<string, LibraryEvent> {
    return this._indexing;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._connection.isDisposed;
  }

  dispose(): void {
    this._check.dispose();
    this.models.dispose();
    this._connection.dispose();
    Signal.clearData(this);
  }

  /** Reconnect at once: the network is back. */
  wake(): void {
    if (!this.isConnected) {
      this._connection.reconnect();
    }
    void this._check.refresh();
  }

  async start(request: NewExploration): Promise<IExplorationModel> {
    const opened = await this._requests.post<OpenExploration>('explorations', request);
    return this._show(opened);
  }

  async resume(
    path: string,
    agreed = '',
    model: ModelChoice | null = null
  ): Promise<IExplorationModel> {
    const body = { path, agreed, model };
    const opened = await this._requests.post<OpenExploration>('explorations/open', body);
    return this._show(opened);
  }

  replay(path: string, agreed = ''): Promise<Replayed> {
    return this._requests.post<Replayed>('explorations/replay', { path, agreed });
  }

  async close(id: string): Promise<void> {
    await this._requests.delete(pathOf('explorations', id));
    this._forget(id);
    if (this._current?.id === id) {
      this.show(null);
    }
    await this._list();
  }

  show(id: string | null): void {
    this._current = id === null ? null : this._known(id);
    this._changed.emit();
  }

  forPath(path: string): IExplorationModel | null {
    const models = Array.from(this._open.values());
    return models.find(model => model.path === path) ?? null;
  }

  libraries(kernelName: string | null): Promise<Libraries> {
    const query = queryOf({ kernel_name: kernelName });
    return this._requests.get<Libraries>(`libraries${query}`);
  }

  indexLibrary(target: string, kernelName: string | null): Promise<IndexedLibrary> {
    const body = { target, kernel_name: kernelName };
    return this._requests.post<IndexedLibrary>('libraries', body);
  }

  search(query: string, libraries: ReadonlyArray<string>): Promise<SearchResults> {
    const asked = queryOf({ query, libraries: libraries.join(',') });
    return this._requests.get<SearchResults>(`search${asked}`);
  }

  /** The parsed docs of an API, requested once. */
  docPage(doc: ApiDoc): Promise<DocPage> {
    const known = this._pages.get(doc);
    if (known) {
      return known;
    }
    const name = doc.path.split('.').pop()!;
    const asked = this._requests.post<DocPage>('docs', { name, doc: doc.doc });
    this._pages.set(doc, asked);
    asked.catch(() => this._pages.delete(doc));
    return asked;
  }

  suggestions(request: SuggestionRequest): Promise<Suggestions> {
    return this._requests.post<Suggestions>('suggestions', request);
  }

  /** The download URL of the solution or the notebook. */
  exportUrl(id: string, format: 'py' | 'md' | 'ipynb'): string {
    const path = pathOf('explorations', id, 'export');
    return this._requests.url(path) + queryOf({ format });
  }

  /** An open exploration, or the one in view, whose session may have ended. */
  private _known(id: string): ExplorationModel | null {
    const shown = this._current?.id === id ? this._current : null;
    return this._open.get(id) ?? shown;
  }

  private _onMessage(_: Connection, message: ServerMessage): void {
    switch (message.kind) {
      case 'exploration':
        this._advance(message.number);
        this._onExploration(message);
        break;
      case 'library':
        this._advance(message.number);
        this._indexing.set(message.target, message);
        this._changed.emit();
        break;
      case 'stream':
        this._open.get(message.id)?.read(message);
        break;
      case 'reset':
        // A connection that is lost before everything is listed begins with a reset again.
        this._position = null;
        this._next = { epoch: message.epoch, after: message.number };
        this._refresh();
        break;
    }
  }

  private _advance(number: number): void {
    const after = (one: IPosition | null) => one && { ...one, after: Math.max(one.after, number) };
    this._position = after(this._position);
    this._next = after(this._next);
  }

  private _onExploration(event: ExplorationEvent): void {
    if (event.state === 'closed') {
      this._forget(event.id);
      this._listAgain();
      return;
    }
    if (event.state === 'open') {
      // It may have been started in another tab.
      this._listAgain();
    }
    const model = this._open.get(event.id);
    if (model) {
      const { path } = model;
      model.apply(event);
      if (model.path !== path) {
        this._listAgain();
      }
    } else if (!this._fetching.has(event.id)) {
      void this._fetch(event.id);
    }
    this._fetching.get(event.id)?.push(event);
  }

  /** Fetch what is listed, once a running fetch is done: its answers may be out of date. */
  private _refresh(): void {
    this._isStale = true;
    if (!this._isRefreshing) {
      this._isRefreshing = true;
      void this._fetchAll().finally(() => (this._isRefreshing = false));
    }
  }

  /** Fetch the status and the list, and try again until they are there. */
  private async _fetchAll(): Promise<void> {
    let delay = FIRST_RETRY_MS;
    while (this._isStale && !this.isDisposed) {
      this._isStale = false;
      try {
        await Promise.all([this._askStatus(), this._list()]);
      } catch {
        this._isStale = true;
        this._ready.resolve();
        await new Promise(resolve => setTimeout(resolve, delay));
        delay = Math.min(delay * 2, MAX_RETRY_MS);
      }
      if (!this._isStale && this._next) {
        this._position = this._next;
        this._next = null;
        void this._fetchOpen();
      }
    }
  }

  private async _fetchOpen(): Promise<void> {
    const listed = this._past.filter(one => one.is_open).map(one => one.id);
    const gone = Array.from(this._open.keys()).filter(id => !listed.includes(id));
    gone.forEach(id => this._forget(id));
    await Promise.all(listed.map(id => this._fetch(id)));
    this._ready.resolve();
    this._changed.emit();
  }

  private async _askStatus(): Promise<void> {
    const status = await this._requests.get<ServerStatus>('status');
    const isOther = this._position && status.epoch !== this._position.epoch;
    const isNews = JSON.stringify(status) !== JSON.stringify(this._status);
    this._status = status;
    this.models.follow(status);
    // What was the last event when this was asked before has arrived, unless it was lost.
    const isBehind = this._position !== null && this._position.after < this._lastNumber;
    this._lastNumber = isOther ? 0 : status.number;
    // A dead connection that was never closed still looks alive.
    if ((isOther || isBehind) && this.isConnected) {
      this._connection.reconnect();
    }
    if (isNews) {
      this._changed.emit();
    }
  }

  private async _list(): Promise<void> {
    const answer = await this._requests.get<ExplorationList>('explorations');
    this._past = answer.explorations;
    this._changed.emit();
  }

  private _listAgain(): void {
    this._list().catch(() => this._refresh());
  }

  /** Fetch an exploration. If that fails, it is tried again later, at growing intervals. */
  private async _fetch(id: string, delay = FIRST_RETRY_MS): Promise<void> {
    const events: ExplorationEvent[] = [];
    this._fetching.set(id, events);
    const isWanted = () => this._fetching.get(id) === events && !this.isDisposed;
    try {
      const opened = await this._requests.get<OpenExploration>(pathOf('explorations', id));
      if (isWanted()) {
        this._fetching.delete(id);
        const model = this._take(opened);
        // Events that arrived in the meantime may be newer than the answer.
        events.forEach(event => model.apply(event));
        this._changed.emit();
      }
    } catch (error) {
      if (error instanceof RequestError && error.status === 404 && isWanted()) {
        // Closed in the meantime.
        this._forget(id);
      } else if (isWanted()) {
        const next = Math.min(delay * 2, MAX_RETRY_MS);
        setTimeout(() => isWanted() && void this._fetch(id, next), delay);
      }
    }
  }

  private _show(opened: OpenExploration): IExplorationModel {
    const model = this._take(opened);
    this._current = model;
    this._changed.emit();
    this._listAgain();
    return model;
  }

  private _take(opened: OpenExploration): ExplorationModel {
    const known = this._open.get(opened.exploration.id);
    if (known) {
      known.replace(opened);
      return known;
    }
    const model = new ExplorationModel(opened, this._requests);
    this._open.set(model.id, model);
    // What is in view may have been resumed in another tab.
    if (this._current?.id === model.id) {
      this._current = model;
    }
    return model;
  }

  private _forget(id: string): void {
    const model = this._open.get(id);
    this._open.delete(id);
    this._fetching.delete(id);
    // If it is shown, it stays: the user can read on, and resume it.
    model?.end();
    this._changed.emit();
  }

  private _connection: Connection;
  private _check: Poll;
  // The last event that is known, or being fetched; null until everything was listed.
  private _position: IPosition | null = null;
  // What it will be once everything is listed; null if it is.
  private _next: IPosition | null = null;
  private _lastNumber = 0;
  private _status: ServerStatus | null = null;
  private _open = new Map<string, ExplorationModel>();
  private _past: ReadonlyArray<Summary> = [];
  private _current: ExplorationModel | null = null;
  private _pages = new WeakMap<ApiDoc, Promise<DocPage>>();
  private _indexing = new Map<string, LibraryEvent>();
  private _ready = new PromiseDelegate<void>();
  private _isRefreshing = false;
  private _isStale = false;
  // The explorations being fetched, with the events that arrived since they were asked for.
  private _fetching = new Map<string, ExplorationEvent[]>();
  private _changed = new Signal<this, void>(this);
}
