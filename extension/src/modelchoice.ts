import { JSONExt } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { ISignal, Signal } from '@lumino/signaling';
import { IStore } from './draft';
import { EmbeddedModel, LocalServer, ModelChoice, Models, ServerStatus } from './protocol';
import { Requests } from './request';

const PULL_INTERVAL_MS = 500;
const PULL = 'models/pull';

/** The server's configured model. */
export const CONFIGURED: ModelChoice = { name: '', base_url: '' };
export const EMBEDDED: ModelChoice = { name: 'embedded', base_url: '' };

/** The model for the next exploration, and the available choices. */
export class ModelChoices implements IDisposable {
  constructor(private readonly _requests: Requests) {
    this._poll = new Poll({
      name: 'exploracoder:pull',
      factory: async () => this._take(await _requests.get<EmbeddedModel>(PULL)),
      frequency: { interval: PULL_INTERVAL_MS, backoff: true },
      auto: false,
      standby: 'when-hidden'
    });
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** What the user chose last. */
  get choice(): ModelChoice {
    return this._choice;
  }

  /** Null until the server has answered. */
  get embedded(): EmbeddedModel | null {
    return this._embedded;
  }

  /** Model servers on the server's machine; null until the first look. */
  get servers(): ReadonlyArray<LocalServer> | null {
    return this._servers;
  }

  get isLooking(): boolean {
    return this._isLooking;
  }

  /** Why the last request failed; empty if it did not. */
  get error(): string {
    return this._error;
  }

  /** Whether a download succeeded while this page was open. */
  get hasArrived(): boolean {
    return this._hasArrived;
  }

  get isEmbedded(): boolean {
    const { base_url, name } = this._choice;
    return name ? name === EMBEDDED.name && !base_url : (this._status?.is_embedded ?? false);
  }

  /** The name of the model that will be asked, and where it is; empty for the embedded one. */
  get named(): { name: string; url: string } {
    const { base_url, name } = this._choice;
    if (this.isEmbedded) {
      return { name: this._embedded?.name ?? '', url: '' };
    }
    return name
      ? { name, url: base_url ?? '' }
      : { name: this._status?.model ?? '', url: this._status?.model_url ?? '' };
  }

  /** Whether the model is known to be unavailable. */
  get isMissing(): boolean {
    if (this.isEmbedded) {
      return this._embedded?.is_there === false;
    }
    return !this._choice.name && Boolean(this._status?.model_error);
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  dispose(): void {
    this._poll.dispose();
    Signal.clearData(this);
  }

  /** Take over the server's status. */
  follow(status: ServerStatus): void {
    this._status = status;
    this._take(status.embedded);
  }

  /**
   * Restore the saved choice, and save every choice from now on. Called again, it takes over what
   * was saved elsewhere since.
   */
  async restore(store: IStore, key: string): Promise<void> {
    const saved = (await store.fetch(key)) as Partial<ModelChoice> | undefined;
    const choice = { name: saved?.name ?? '', base_url: saved?.base_url ?? '' };
    this._save = () => this._ask(async () => void (await store.save(key, { ...this._choice })));
    if (!JSONExt.deepEqual(choice, { ...this._restored })) {
      this._restored = this._choice = choice;
      this._changed.emit();
    }
  }

  choose(choice: ModelChoice): void {
    this._choice = choice;
    void this._save();
    this._changed.emit();
  }

  /** Look for models on the server's machine. */
  async look(): Promise<void> {
    if (this._isLooking) {
      return;
    }
    this._isLooking = true;
    this._changed.emit();
    await this._ask(async () => {
      const found = await this._requests.get<Models>('models');
      this._servers = found.servers;
      this._take(found.embedded);
    });
    this._isLooking = false;
    this._changed.emit();
  }

  /** Start or resume the embedded model download. */
  pull(): Promise<void> {
    return this._ask(async () => this._take(await this._requests.post<EmbeddedModel>(PULL, {})));
  }

  /** Stop the download; keep what it fetched. */
  cancel(): Promise<void> {
    return this._ask(async () => this._take(await this._requests.delete<EmbeddedModel>(PULL)));
  }

  private async _ask(work: () => Promise<void>): Promise<void> {
    this._error = '';
    try {
      await work();
    } catch (reason) {
      this._error = reason instanceof Error ? reason.message : `${reason}`;
      this._changed.emit();
    }
  }

  private _take(embedded: EmbeddedModel): void {
    const before = this._embedded;
    this._embedded = embedded;
    this._hasArrived ||= Boolean(before?.is_pulling) && embedded.is_there;
    if (embedded.is_pulling && !before?.is_pulling) {
      void this._poll.start();
    } else if (!embedded.is_pulling && before?.is_pulling) {
      void this._poll.stop();
    }
    if (JSON.stringify(before) !== JSON.stringify(embedded)) {
      this._changed.emit();
    }
  }

  private readonly _poll: Poll;
  private _choice = CONFIGURED;
  private _restored = CONFIGURED;
  private _status: ServerStatus | null = null;
  private _embedded: EmbeddedModel | null = null;
  private _servers: ReadonlyArray<LocalServer> | null = null;
  private _isLooking = false;
  private _hasArrived = false;
  private _error = '';
  private _save: () => Promise<void> = async () => undefined;
  private _changed = new Signal<this, void>(this);
}
