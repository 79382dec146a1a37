import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { ServiceManager } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { Change, Exploration } from '../protocol';
import { IExplorationModel, IExplorations } from '../tokens';
import { attachKernel } from './attaching';
import { sourceOf } from './marks';
import { Mirror } from './mirror';
import { Previews, previewsAfter, stepOf, withPreviews } from './preview';
import { Saving, isBusy } from './saving';
import { upsert } from './upsert';

const RETRY_MS = 4_000;

/**
 * Keeps an exploration's notebook that is open in this tab as the server has it.
 *
 * There is one writer at a time: this tab if the server lets it, else the server or another tab.
 * Refreshes coalesce: while one runs, one more waits.
 */
export class NotebookHolder implements IDisposable {
  constructor(
    readonly panel: NotebookPanel,
    private readonly _explorations: IExplorations,
    private readonly _services: ServiceManager.IManager
  ) {
    this._saving = new Saving(panel.context, _services.contents, () => this._isStillHeld());
    this._explorations.changed.connect(this._onExplorations, this);
    panel.disposed.connect(this.dispose, this);
    NotebookActions.executed.connect(this._onExecuted, this);
    panel.content.activeCellChanged.connect(this._onActiveCell, this);
    this._onExplorations();
  }

  /** The exploration, while its session lives in the server. */
  get model(): IExplorationModel | null {
    return this._model;
  }

  /** Whether the server has said that it does not have this exploration open. */
  get isClosed(): boolean {
    const { past, status } = this._explorations;
    const path = this.panel.context.path;
    const isComing = past.some(one => one.is_open && one.path === path);
    return this._model === null && status !== null && !isComing;
  }

  /** Whether another tab saves the notebook. */
  get isForeign(): boolean {
    return this._model !== null && this._isHeld === false;
  }

  /** Emitted when anything that the notebook's additions show may have changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._saving.dispose();
    this._detach();
    Signal.clearData(this);
  }

  /** The candidate that a subtask's cell shows: the one looked at, or else the chosen one. */
  shown(subtask: string): string | null {
    const step = this._model && stepOf(this._model.exploration, subtask);
    return step ? (this._previews.get(subtask) ?? step.chosen) : null;
  }

  /** Show another candidate in a subtask's cell. */
  show(subtask: string, candidate: string): void {
    this._previews = new Map(this._previews).set(subtask, candidate);
    this._apply();
  }

  /** Whether a cell holds something that the user has typed and the server does not know. */
  isEdited(id: string, source: string): boolean {
    const wanted = this._wanted().find(cell => cell.id === id);
    return wanted !== undefined && sourceOf(wanted) !== source;
  }

  /** Put what the server has into a cell in place of what the user has typed; undo brings it back. */
  takeBack(id: string): void {
    const wanted = this._wanted().find(cell => cell.id === id);
    const cell = Array.from(this.panel.model?.cells ?? []).find(one => one.id === id);
    if (wanted && cell) {
      cell.sharedModel.setSource(sourceOf(wanted));
    }
  }

  /** Bring the notebook up to date, now or once the refresh that runs has ended. */
  refresh(): void {
    if (this._isRefreshing) {
      this._isWaiting = true;
      return;
    }
    this._isRefreshing = true;
    void this._refresh().finally(() => {
      this._isRefreshing = false;
      if (this._isWaiting && !this._isDisposed) {
        this._isWaiting = false;
        this.refresh();
      }
    });
  }

  private async _refresh(): Promise<void> {
    const model = this._model;
    if (!model || this._isDisposed) {
      return;
    }
    try {
      await this._settle(model);
      const ask = () => model.cells(Math.max(0, this._mirror.revision));
      if (!this._mirror.take(await ask())) {
        this._mirror.take(await ask());
      }
    } catch {
      this._retryLater();
      return;
    }
    if (model === this._model && !this._isDisposed) {
      this._apply();
      this._saving.ask();
    }
  }

  /** Find out who saves, attach the kernel, and load what somebody else has saved. */
  private async _settle(model: IExplorationModel): Promise<void> {
    if (this._isHeld) {
      return;
    }
    const isFirst = this._mirror.revision < 0;
    await this._saving.stopFollowing();
    const held = await this._explorations.hold(model.id);
    if (held.is_held && (await this._saving.isStale())) {
      if (this.panel.model && isBusy(this.panel.model)) {
        throw new Error('A cell runs: the file is loaded again after that.');
      }
      await this._saving.catchUp(!isFirst);
    }
    if (model !== this._model || this._isDisposed) {
      throw new Error('The exploration was closed meanwhile.');
    }
    this._isHeld = held.is_held;
    this._saving.setWriter(held.is_held, !held.is_held);
    this._changed.emit();
    if (!held.is_held) {
      this._retryLater();
    }
  }

  /** Ask whether this tab is the one that saves, when the file says that somebody else has. */
  private async _isStillHeld(): Promise<boolean> {
    const model = this._model;
    const held = model && this._isHeld ? await this._explorations.hold(model.id) : null;
    // If the connection was cut before the answer came, the server may have saved meanwhile.
    return held?.is_held === true && this._isHeld === true && model === this._model;
  }

  private _apply(): void {
    const [notebook, model] = [this.panel.model, this._model];
    if (!notebook || !model || notebook.isDisposed) {
      return;
    }
    this._saving.isPaused = this._previewsAccepted();
    this._saving.carries = { model, revision: this._mirror.revision };
    this._saving.quietly(() => upsert(notebook, this._wanted()));
    this._changed.emit();
  }

  private _wanted() {
    const { cells } = this._mirror;
    return this._model ? withPreviews(cells, this._model.exploration, this._previews) : cells;
  }

  private _previewsAccepted(): boolean {
    const exploration = this._model?.exploration;
    return [...this._previews.keys()].some(
      subtask => exploration && stepOf(exploration, subtask)?.status === 'done'
    );
  }

  private _onExplorations(): void {
    const model = this._explorations.forPath(this.panel.context.path);
    const isConnected = this._explorations.isConnected;
    if (model !== this._model) {
      this._detach();
      this._attach(model);
    } else if (model && isConnected !== this._wasConnected) {
      this._onConnection(isConnected);
    } else if (!model && this._wasAttached && isConnected && !this._wasConnected) {
      // The server that closed the exploration may have saved it after this tab last heard of it.
      this._saving.settleDown();
    }
    this._wasConnected = isConnected;
    this._changed.emit();
  }

  private _onConnection(isConnected: boolean): void {
    if (isConnected) {
      this.refresh();
    } else {
      // The server is going to save the notebook while it does not hear of this tab.
      this._isHeld = null;
      this._saving.setWriter(false, false);
    }
  }

  private _attach(model: IExplorationModel | null): void {
    this._model = model;
    if (model) {
      this._last = model.exploration;
      model.changed.connect(this._onModel, this);
      this._attachKernel(model);
      this.refresh();
    }
  }

  private _detach(): void {
    const model = this._model;
    this._model = null;
    window.clearTimeout(this._timer);
    if (model) {
      model.changed.disconnect(this._onModel, this);
      this._isHeld = null;
      this._wasAttached = true;
      this._previews = new Map();
      this._mirror.forget();
      this._kernelId = '';
      this._saving.settleDown();
      // The server writes the file once it hears this.
      void this._saving.whenSaved().then(() => {
        if (this._model?.id !== model.id) {
          this._explorations.release(model.id);
        }
      });
    }
  }

  private _onModel(model: IExplorationModel, change: Change | null): void {
    const { exploration } = model;
    if (this._last) {
      this._previews = previewsAfter(this._last, exploration, this._previews);
    }
    this._last = exploration;
    this._attachKernel(model);
    if (!change || change.steps.length || change.order || Object.keys(change.fields).length) {
      this.refresh();
    }
    this._changed.emit();
  }

  /** Use the sidecar's kernel, also when the server had to start another one. */
  private _attachKernel({ kernelId }: IExplorationModel): void {
    if (!kernelId || this._kernelId === kernelId) {
      return;
    }
    this._kernelId = kernelId;
    const forget = () => {
      // The next change tries again.
      this._kernelId = this._kernelId === kernelId ? '' : this._kernelId;
    };
    void attachKernel(this.panel.sessionContext, this._services, kernelId)
      .then(isAttached => isAttached || forget())
      .catch(forget);
  }

  private _onExecuted(_: unknown, { notebook }: { notebook: object }): void {
    if (notebook === this.panel.content) {
      this.refresh();
    }
  }

  /** A look at another candidate of an accepted step ends when the user goes elsewhere. */
  private _onActiveCell(): void {
    const exploration = this._model?.exploration;
    const active = this.panel.content.activeCell?.model.id;
    const kept = [...this._previews].filter(
      ([subtask]) =>
        subtask === active || (exploration && stepOf(exploration, subtask)?.status !== 'done')
    );
    if (kept.length < this._previews.size) {
      this._previews = new Map(kept);
      this._apply();
      this._saving.ask();
    }
  }

  private _retryLater(): void {
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => this.refresh(), RETRY_MS);
  }

  private _model: IExplorationModel | null = null;
  private _last: Exploration | null = null;
  private _mirror = new Mirror();
  private _previews: Previews = new Map();
  private _saving: Saving;
  private _changed = new Signal<this, void>(this);
  /** Whether this tab saves; null until the server has been asked. */
  private _isHeld: boolean | null = null;
  private _wasConnected = false;
  private _wasAttached = false;
  private _isRefreshing = false;
  private _isWaiting = false;
  private _isDisposed = false;
  private _kernelId = '';
  private _timer = 0;
}
