import * as nbformat from '@jupyterlab/nbformat';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { ServiceManager } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { Change, Exploration } from '../protocol';
import { IExplorationModel, IExplorations } from '../tokens';
import { attachKernel } from './attaching';
import { Previews, previewsAfter, stepOf, withPreviews } from './candidatepreview';
import { KEY, isObject, sourceOf } from './marks';
import { merge } from './merge';
import { ExplorationContents, IMerge } from './provider';
import { QuietChanges } from './quietchanges';
import { upsert } from './upsert';

// A save that takes longer holds up no update.
const LONGEST_SAVE_MS = 5_000;

/** Keeps an exploration's notebook, open in this tab, in sync with the server. */
export class NotebookHolder implements IDisposable {
  constructor(
    readonly panel: NotebookPanel,
    private readonly _explorations: IExplorations,
    private readonly _services: ServiceManager.IManager,
    contents: ExplorationContents | null
  ) {
    const { context } = panel;
    this._quiet = QuietChanges.of(
      context,
      () => _explorations.isConnected && !context.model.collaborative
    );
    contents?.merged.connect(this._onMerged, this);
    this._explorations.changed.connect(this._onExplorations, this);
    panel.disposed.connect(this.dispose, this);
    NotebookActions.executed.connect(this._onExecuted, this);
    panel.content.activeCellChanged.connect(this._onActiveCell, this);
    this._onExplorations();
  }

  /** The exploration, while it has a session on the server. */
  get model(): IExplorationModel | null {
    return this._model;
  }

  /** Whether the server has reported that this exploration is not open. */
  get isClosed(): boolean {
    const { past, status } = this._explorations;
    const path = this.panel.context.path;
    const isComing = past.some(one => one.is_open && one.path === path);
    return this._model === null && status !== null && !isComing;
  }

  /** Whether the notebook is shared: then everybody edits the same document. */
  get isShared(): boolean {
    return this.panel.model?.collaborative === true;
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
    this._detach();
    Signal.clearData(this);
  }

  /** The candidate shown in a subtask's cell: the previewed one, or else the chosen one. */
  shown(subtask: string): string | null {
    const step = this._model && stepOf(this._model.exploration, subtask);
    return step ? (this._previews.get(subtask) ?? step.chosen) : null;
  }

  /** Show another candidate in a subtask's cell, unless the notebook is shared. */
  show(subtask: string, candidate: string): void {
    if (!this.isShared) {
      this._previews = new Map(this._previews).set(subtask, candidate);
      this._update();
    }
  }

  /** Whether a cell holds an edit by the user that the server does not know. */
  isEdited(id: string, source: string): boolean {
    const wanted = this._wanted().find(cell => cell.id === id);
    return wanted !== undefined && sourceOf(wanted) !== source;
  }

  /** Replace the user's edit in a cell with the server's source; undo brings it back. */
  takeBack(id: string): void {
    const wanted = this._wanted().find(cell => cell.id === id);
    const cell = Array.from(this.panel.model?.cells ?? []).find(one => one.id === id);
    if (wanted && cell) {
      cell.sharedModel.setSource(sourceOf(wanted));
    }
  }

  /** Update the notebook. If it is shared, the server does that for everyone. */
  private _update(): void {
    const notebook = this.panel.model;
    const canUpdate = notebook && !notebook.isDisposed && !this.isShared && !this._isSaving;
    if (this._model && canUpdate) {
      this._quiet.make(() => upsert(notebook, this._wanted()));
    }
    this._changed.emit();
  }

  private _wanted(): ReadonlyArray<nbformat.ICell> {
    const model = this._model;
    return model ? withPreviews(model.cells, model.exploration, this._previews) : [];
  }

  private _onMerged(_: ExplorationContents, merged: IMerge): void {
    const notebook = this.panel.model;
    if (notebook && merged.path === this.panel.context.path) {
      this._quiet.make(() => merge(notebook, merged));
    }
  }

  private _onExplorations(): void {
    const model = this._followed();
    const isConnected = this._explorations.isConnected;
    if (isConnected && !this._wasConnected && this._quiet.areUnsaved) {
      void this._saveFirst();
    }
    this._wasConnected = isConnected;
    if (model !== this._model) {
      this._detach();
      this._attach(model);
    }
    this._changed.emit();
  }

  /** The exploration of this notebook, also while the server has not noticed a rename. */
  private _followed(): IExplorationModel | null {
    const { path } = this.panel.context;
    const found = this._explorations.forPath(path);
    if (found) {
      this._path = path;
      return found;
    }
    const known = this._model && this._explorations.open.get(this._model.id);
    return known && path !== this._path ? known : null;
  }

  /** Save what was typed without a connection before missed events can put newer code there. */
  private async _saveFirst(): Promise<void> {
    this._isSaving = true;
    const late = new Promise(resolve => setTimeout(resolve, LONGEST_SAVE_MS));
    await Promise.race([this._quiet.save(), late]);
    this._isSaving = false;
    this._update();
  }

  private _attach(model: IExplorationModel | null): void {
    this._model = model;
    if (model) {
      this._last = model.exploration;
      model.changed.connect(this._onModel, this);
      this._attachKernel(model);
      this._name(model);
      this._update();
    }
  }

  /** Record the exploration's id: a resumed copy has another one than its file had. */
  private _name({ id }: IExplorationModel): void {
    const shared = this.panel.model?.sharedModel;
    const saved = shared?.getMetadata(KEY);
    if (shared && isObject(saved) && saved.id !== id && !this.isShared) {
      this._quiet.make(() => shared.setMetadata(KEY, { ...saved, id }));
    }
  }

  private _detach(): void {
    this._model?.changed.disconnect(this._onModel, this);
    this._model = null;
    this._previews = new Map();
    this._kernelId = '';
  }

  private _onModel(model: IExplorationModel, change: Change | null): void {
    const { exploration } = model;
    if (this._last) {
      this._previews = previewsAfter(this._last, exploration, this._previews);
    }
    this._last = exploration;
    this._attachKernel(model);
    if (!change || change.steps.length || change.order || Object.keys(change.fields).length) {
      this._update();
    } else {
      this._changed.emit();
    }
  }

  /** Use the sidecar's kernel, even after the server had to start a new one. */
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
      this._update();
    }
  }

  /** Previews of accepted steps end when the user moves to another cell. */
  private _onActiveCell(): void {
    const exploration = this._model?.exploration;
    const active = this.panel.content.activeCell?.model.id;
    const kept = [...this._previews].filter(
      ([subtask]) =>
        subtask === active || (exploration && stepOf(exploration, subtask)?.status !== 'done')
    );
    if (kept.length < this._previews.size) {
      this._previews = new Map(kept);
      this._update();
    }
  }

  private _model: IExplorationModel | null = null;
  private _last: Exploration | null = null;
  // Where the exploration's notebook was found last.
  private _path = '';
  private _previews: Previews = new Map();
  private _quiet: QuietChanges;
  private _changed = new Signal<this, void>(this);
  private _wasConnected = false;
  private _isSaving = false;
  private _isDisposed = false;
  private _kernelId = '';
}
