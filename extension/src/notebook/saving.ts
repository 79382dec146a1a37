import * as nbformat from '@jupyterlab/nbformat';
import { INotebookModel } from '@jupyterlab/notebook';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import { Contents, ServerConnection } from '@jupyterlab/services';
import { PartialJSONObject } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { IExplorationModel } from '../tokens';
import { KEY, isObject, isOurs } from './marks';
import { isRunning, replaceAll, upsert } from './upsert';

const SAVE_AFTER_MS = 500;
const LOOK_AFTER_MS = [500, 3_000];
const RETRY_MS = 4_000;
const KERNEL_KEYS = ['kernelspec', 'language_info'];
const PLAIN_KERNEL = { name: 'python3', display_name: 'Python 3 (ipykernel)', language: 'python' };

type NotebookContext = DocumentRegistry.IContext<INotebookModel>;

/** What JupyterLab's context has for itself, to note what the file is that it would save over. */
interface IKnowsItsFile {
  _updateContentsModel?(model: Contents.IModel): void;
}

/**
 * Saves an exploration's notebook while this tab is the one that does, and keeps it from being
 * saved while another writer has it.
 */
export class Saving implements IDisposable {
  constructor(
    private readonly _context: NotebookContext,
    private readonly _contents: Contents.IManager,
    private readonly _isStillHeld: () => Promise<boolean>
  ) {
    this._kernelspec = kernelspecOf(_context.model);
    _context.saveState.connect(this._onSaveState, this);
    _context.model.metadataChanged.connect(this._onMetadata, this);
    _context.model.contentChanged.connect(this._onContent, this);
    _context.model.stateChanged.connect(this._onContent, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      window.clearTimeout(this._saveTimer);
      void this.stopFollowing();
      Signal.clearData(this);
    }
  }

  /** The exploration that goes into the file with the cells, and the revision they are at. */
  carries: { model: IExplorationModel; revision: number } | null = null;

  /** While set nothing is saved: the notebook shows what does not belong into its file. */
  isPaused = false;

  /** Say whether this tab saves, and whether another writer does meanwhile. */
  setWriter(isHeld: boolean, isForeign: boolean): void {
    this._isHeld = isHeld;
    this._isForeign = isForeign;
    this._context.model.readOnly = isForeign;
    this._onContent();
  }

  /** Change the notebook without that counting as the user's work. */
  quietly(change: () => void): void {
    const { model } = this._context;
    const wasDirty = model.dirty;
    this._isQuiet = true;
    try {
      change();
    } finally {
      this._isQuiet = false;
      model.dirty = wasDirty;
    }
  }

  /**
   * Save soon. While one change follows another it is saved now and then, not at the end only; what
   * is asked for during a save is done after it.
   */
  ask(afterMs = SAVE_AFTER_MS): void {
    if (this._isHeld && !this._isDisposed && !this._saveTimer) {
      this._saveTimer = window.setTimeout(() => {
        this._saveTimer = 0;
        void this._save();
      }, afterMs);
    }
  }

  /** Resolves once no save is under way. */
  async whenSaved(): Promise<void> {
    if (this._isSaving && !this._isDisposed) {
      await new Promise<void>(resolve => {
        const { saveState } = this._context;
        const onState = (_: NotebookContext, state: DocumentRegistry.SaveState) => {
          if (state !== 'started') {
            saveState.disconnect(onState);
            resolve();
          }
        };
        saveState.connect(onState);
      });
    }
  }

  /** Whether the file is not the one that was loaded or saved here last. */
  async isStale(): Promise<boolean> {
    const known = this._context.contentsModel;
    const there = await this._contents.get(this._context.path, { content: false, hash: true });
    return there.hash && known?.hash
      ? there.hash !== known.hash
      : there.last_modified !== known?.last_modified;
  }

  /**
   * Take over what is in the file now, so that saving over it asks nothing. With `keep` the cells
   * stay as they are here: the server's part of them is brought up to date after this anyway.
   *
   * JupyterLab's own way, `revert`, puts new cells in the place of all: at which a notebook that is
   * being typed in can come out blank.
   */
  async catchUp(keep: boolean): Promise<void> {
    const { model, path } = this._context;
    const there = await this._contents.get(path, { type: 'notebook', format: 'json', hash: true });
    if (this._isDisposed || path !== this._context.path) {
      return;
    }
    const known = this._context as unknown as IKnowsItsFile;
    if (!known._updateContentsModel) {
      await this._revert(keep);
      return;
    }
    known._updateContentsModel(there);
    if (!keep) {
      const { cells } = there.content as nbformat.INotebookContent;
      this.quietly(() => upsert(model, newerThan(model, cells)));
    }
  }

  /** As `catchUp`, in a JupyterLab that has no other way. */
  private async _revert(keep: boolean): Promise<void> {
    const { model } = this._context;
    const cells = model.sharedModel.toJSON().cells;
    const wasDirty = model.dirty;
    await this._context.revert();
    if (keep && !this._isDisposed) {
      this.quietly(() => replaceAll(model, cells));
      model.dirty = wasDirty;
    }
  }

  /**
   * The session has ended: whoever saves from now on shall not be asked about the server's file. The
   * server may still be writing it, so it is looked at twice.
   */
  settleDown(): void {
    if (this._isDisposed) {
      return;
    }
    this.carries = null;
    this.setWriter(false, false);
    void this.stopFollowing();
    this._timers = LOOK_AFTER_MS.map(delay =>
      window.setTimeout(() => (this._following = this._followFile()), delay)
    );
  }

  /** Look at the file no more; resolves once it is not being loaded either. */
  stopFollowing(): Promise<void> {
    this._timers.forEach(timer => window.clearTimeout(timer));
    this._timers = [];
    return this._following;
  }

  private async _followFile(): Promise<void> {
    try {
      const { model } = this._context;
      const isOver = () => this._isDisposed || this._isHeld || this._isForeign || isBusy(model);
      if (!isOver() && (await this.isStale()) && !isOver()) {
        await this.catchUp(model.dirty);
      }
    } catch {
      // The file is gone or out of reach; saving it says so.
    }
  }

  private async _save(): Promise<void> {
    if (this._isSaving) {
      this._isAskedAgain = true;
      return;
    }
    try {
      // Somebody else's file would make JupyterLab ask which one to keep. It shall not ask for ours.
      if (!this._maySave() || ((await this._isStaleHere()) && !(await this._isStillHeld()))) {
        return;
      }
    } catch {
      this.ask(RETRY_MS);
      return;
    }
    if (this._maySave()) {
      // It says itself what went wrong; the next change tries again.
      await this._context.save().catch(() => {
        this._isSaving = false;
      });
    }
  }

  private _maySave(): boolean {
    const isFree = this._isHeld && !this._isDisposed && !this.isPaused && !this._isSaving;
    return isFree && !this._context.isDisposed && !!this._context.contentsModel?.writable;
  }

  /** As `isStale`; a file that is gone is not somebody else's. */
  private async _isStaleHere(): Promise<boolean> {
    try {
      return await this.isStale();
    } catch (error) {
      if (error instanceof ServerConnection.ResponseError) {
        return false;
      }
      throw error;
    }
  }

  private _onSaveState(_: NotebookContext, state: DocumentRegistry.SaveState): void {
    this._isSaving = state === 'started';
    if (this._isSaving) {
      this.quietly(() => this._complete());
    } else if (this._isAskedAgain) {
      this._isAskedAgain = false;
      this.ask();
    }
  }

  /** Put into the notebook what belongs into its file. */
  private _complete(): void {
    const { sharedModel } = this._context.model;
    if (this.carries) {
      const { model, revision } = this.carries;
      const exploration = model.exploration as unknown as PartialJSONObject;
      sharedModel.setMetadata(KEY, { ...exploration, revision });
    }
    // The file runs anywhere: the kernel of the moment is not the one that it asks for.
    sharedModel.setMetadata('kernelspec', this._kernelspec);
  }

  /** What JupyterLab notes of the kernel of the moment is no work of the user's. */
  private _onMetadata(_: INotebookModel, { key }: { key: string }): void {
    const { model } = this._context;
    if (KERNEL_KEYS.includes(key) && !model.dirty) {
      queueMicrotask(() => {
        if (!this._isDisposed) {
          model.dirty = false;
        }
      });
    }
  }

  private _onContent(): void {
    const { model } = this._context;
    if (this._isQuiet || !model.dirty) {
      return;
    }
    if (this._isForeign) {
      model.dirty = false;
    } else if (this._isSaving) {
      this._isAskedAgain = true;
    } else {
      this.ask();
    }
  }

  private _saveTimer = 0;
  private _kernelspec: PartialJSONObject;
  private _timers: number[] = [];
  private _following: Promise<void> = Promise.resolve();
  private _isDisposed = false;
  private _isHeld = false;
  private _isForeign = false;
  private _isQuiet = false;
  private _isSaving = false;
  private _isAskedAgain = false;
}

/** The cells of a file but those of the user's that are in the notebook: there they are newer. */
function newerThan(model: INotebookModel, cells: ReadonlyArray<nbformat.ICell>): nbformat.ICell[] {
  const here = new Set(Array.from(model.cells, cell => cell.id));
  return cells.filter(
    ({ id, metadata }) => isOurs(id as string, metadata) || !here.has(id as string)
  );
}

/** Whether any cell of a notebook runs. */
export function isBusy(model: INotebookModel): boolean {
  return Array.from(model.cells).some(isRunning);
}

function kernelspecOf(model: INotebookModel): PartialJSONObject {
  const spec = model.sharedModel.getMetadata('kernelspec');
  return isObject(spec) && spec.name && spec.name !== KEY ? spec : PLAIN_KERNEL;
}
