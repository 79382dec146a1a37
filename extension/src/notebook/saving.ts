import { INotebookModel } from '@jupyterlab/notebook';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import { Contents } from '@jupyterlab/services';
import { PartialJSONObject } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { IExplorationModel } from '../tokens';
import { KEY, isObject } from './marks';
import { isRunning, replaceAll } from './upsert';

const SAVE_AFTER_MS = 500;
const LAST_LOOK_MS = 3_000;
const KERNEL_KEYS = ['kernelspec', 'language_info'];
const PLAIN_KERNEL = { name: 'python3', display_name: 'Python 3 (ipykernel)', language: 'python' };

type NotebookContext = DocumentRegistry.IContext<INotebookModel>;

/**
 * Saves an exploration's notebook while this tab is the one that does, and keeps it from being
 * saved while another writer has it.
 */
export class Saving implements IDisposable {
  constructor(
    private readonly _context: NotebookContext,
    private readonly _contents: Contents.IManager
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
      window.clearTimeout(this._timer);
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
  ask(): void {
    if (this._isHeld && !this._isDisposed && !this._saveTimer) {
      this._saveTimer = window.setTimeout(() => {
        this._saveTimer = 0;
        void this._save();
      }, SAVE_AFTER_MS);
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
   * Load the file again, so that saving over it asks nothing. What stands in the notebook here is
   * put back: the server's part of it is brought up to date after this anyway.
   */
  async catchUp(keep: boolean): Promise<void> {
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
    void this._followFile();
    this._timer = window.setTimeout(() => void this._followFile(), LAST_LOOK_MS);
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
    const isFree = this._isHeld && !this._isDisposed && !this.isPaused;
    if (isFree && !this._context.isDisposed && this._context.contentsModel?.writable) {
      // It says itself what went wrong; the next change tries again.
      await this._context.save().catch(() => undefined);
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
  private _timer = 0;
  private _isDisposed = false;
  private _isHeld = false;
  private _isForeign = false;
  private _isQuiet = false;
  private _isSaving = false;
  private _isAskedAgain = false;
}

/** Whether any cell of a notebook runs. */
export function isBusy(model: INotebookModel): boolean {
  return Array.from(model.cells).some(isRunning);
}

function kernelspecOf(model: INotebookModel): PartialJSONObject {
  const spec = model.sharedModel.getMetadata('kernelspec');
  return isObject(spec) && spec.name && spec.name !== KEY ? spec : PLAIN_KERNEL;
}
