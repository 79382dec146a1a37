import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Contents, Kernel } from '@jupyterlab/services';
import { Debouncer } from '@lumino/polling';
import { ISignal, Signal } from '@lumino/signaling';
import { IPlace } from './draft';
import { SourceCell } from './protocol';

const SETTLE_MS = 500;

/** The user's notebook: the last one visited that does not belong to an exploration. */
export class UserNotebook {
  constructor(
    private readonly _tracker: INotebookTracker | null,
    private readonly _contents: Pick<Contents.IManager, 'driveName'>
  ) {
    _tracker?.currentChanged.connect((_, panel) => this._look(panel));
    this._look(_tracker?.currentWidget ?? null);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get kernel(): Kernel.IKernelConnection | null {
    return this._panel?.sessionContext.session?.kernel ?? null;
  }

  /** Emitted with the new path when the notebook is renamed or moved. */
  get moved(): ISignal<this, string> {
    return this._moved;
  }

  /** Its path in this tab, on whatever drive. */
  get path(): string | null {
    return this._panel?.context.path ?? null;
  }

  /** Null when no notebook is open. */
  get place(): IPlace | null {
    const panel = this._panel;
    if (!panel) {
      return null;
    }
    return {
      path: serverPath(this._contents, panel.context.path),
      kernelName: this.kernel?.name ?? null,
      kernelId: this.kernel?.id ?? null,
      cells: codeOf(panel)
    };
  }

  private _look(panel: NotebookPanel | null): void {
    if (panel && panel !== this._panel) {
      void panel.context.ready.then(() => {
        if (isUsers(panel)) {
          this._follow(panel);
        }
      });
    }
  }

  private _follow(panel: NotebookPanel): void {
    Signal.disconnectReceiver(this);
    this._panel = panel;
    panel.sessionContext.kernelChanged.connect(this._settle, this);
    panel.content.modelContentChanged.connect(this._settle, this);
    panel.context.pathChanged.connect(this._move, this);
    panel.disposed.connect(this._leave, this);
    this._changed.emit();
  }

  private _move(_: unknown, path: string): void {
    this._moved.emit(path);
  }

  private _settle(): void {
    void this._settled.invoke();
  }

  /** Go on with the notebook that the user went to, or else with any other. */
  private _leave(): void {
    this._panel = null;
    this._changed.emit();
    const current = this._tracker?.currentWidget;
    this._look(current && isUsers(current) ? current : (this._tracker?.find(isUsers) ?? null));
  }

  private _panel: NotebookPanel | null = null;
  private _settled = new Debouncer(() => this._changed.emit(), SETTLE_MS);
  private _changed = new Signal<this, void>(this);
  private _moved = new Signal<this, string>(this);
}

/** Whether a notebook is open, and not an exploration's. */
function isUsers(panel: NotebookPanel): boolean {
  return !panel.isDisposed && !panel.content.model?.getMetadata('exploracoder');
}

/** A notebook's path on the server; empty on another drive, which the server does not know. */
export function serverPath(contents: Pick<Contents.IManager, 'driveName'>, path: string): string {
  return contents.driveName(path) ? '' : path;
}

/** The non-empty code cells of a notebook. */
export function codeOf(panel: NotebookPanel): SourceCell[] {
  return panel.content.widgets
    .filter(({ model }) => model.type === 'code' && model.sharedModel.source.trim())
    .map(({ model }) => ({ id: model.id, source: model.sharedModel.source }));
}
