import { DocumentRegistry } from '@jupyterlab/docregistry';
import { INotebookModel } from '@jupyterlab/notebook';
import { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { Signal } from '@lumino/signaling';

const SAVE_AFTER_MS = 1_000;
// Who types on without a pause has their work saved, too.
const LONGEST_WAIT_MS = 3_000;
const KERNEL_KEYS = ['kernelspec', 'language_info'];

type Context = DocumentRegistry.IContext<INotebookModel>;

/**
 * Distinguishes the user's changes to an exploration's notebook, which are saved soon, from our
 * own and JupyterLab's, which the server already has.
 */
export class QuietChanges implements IDisposable {
  /** All views of a notebook share one: to another, what one does quietly would be an edit. */
  static of(context: Context, canSave: () => boolean): QuietChanges {
    const known = QuietChanges._known.get(context);
    if (known) {
      return known;
    }
    const made = new QuietChanges(context, canSave);
    QuietChanges._known.set(context, made);
    context.disposed.connect(made.dispose, made);
    return made;
  }

  /** `canSave` says whether the server can be asked to save. */
  constructor(
    private readonly _context: Context,
    private readonly _canSave: () => boolean
  ) {
    _context.model.metadataChanged.connect(this._onMetadata, this);
    _context.model.contentChanged.connect(this._onContent, this);
    _context.model.stateChanged.connect(this._onState, this);
    _context.saveState.connect(this._onSaveState, this);
  }

  /** Whether the user has changed anything since the last save. */
  get areUnsaved(): boolean {
    return this._context.model.dirty;
  }

  get isDisposed(): boolean {
    return this._saving.isDisposed;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._saving.dispose();
      Signal.clearData(this);
    }
  }

  /** Change the notebook without it counting as the user's work. */
  make(change: () => void): void {
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

  /** Save the user's changes soon, if there are any. */
  saveSoon(): void {
    if (this.isDisposed || !this._context.model.dirty) {
      return;
    }
    this._since ??= Date.now();
    // After that, the save that is due is not put off again.
    if (Date.now() - this._since < LONGEST_WAIT_MS) {
      void this._saving.invoke();
    }
  }

  /** Save the user's changes, if there are any and the server can be asked to. */
  async save(): Promise<void> {
    this._since = null;
    const { contentsModel, isDisposed, model } = this._context;
    if (!isDisposed && model.dirty && contentsModel?.writable && this._canSave()) {
      // `save` reports errors itself; the next change tries again.
      await this._context.save().catch(() => undefined);
    }
  }

  /** JupyterLab's notes on the current kernel are not the user's changes. */
  private _onMetadata(_: INotebookModel, { key }: { key: string }): void {
    const { model } = this._context;
    if (KERNEL_KEYS.includes(key) && !model.dirty) {
      queueMicrotask(() => {
        if (!this.isDisposed) {
          model.dirty = false;
        }
      });
    }
  }

  private _onContent(): void {
    if (!this._isQuiet) {
      this._isEdited = true;
      this.saveSoon();
    }
  }

  private _onState(): void {
    if (!this._isQuiet) {
      this.saveSoon();
    }
  }

  /** JupyterLab regards text typed during a save as saved. */
  private _onSaveState(_: unknown, state: DocumentRegistry.SaveState): void {
    if (state === 'started') {
      this._isEdited = false;
    } else if (state === 'completed' && this._isEdited) {
      this._context.model.dirty = true;
    }
  }

  private static readonly _known = new WeakMap<Context, QuietChanges>();
  private _isQuiet = false;
  private _isEdited = false;
  // When the first change was made that is not being saved yet.
  private _since: number | null = null;
  private _saving = new Debouncer(() => this.save(), SAVE_AFTER_MS);
}
