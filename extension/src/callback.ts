import { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { IDocumentWidget } from '@jupyterlab/docregistry';
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { IExplorationModel, IExplorations } from './tokens';
import { statusWords, wordsOf } from './wording';

const MARK = 'jp-mod-calling';
const CLOSE_AFTER_MS = 15_000;

/** Calls the user back when an exploration's work ends while they look elsewhere. */
export class CallBack {
  constructor(
    private readonly _explorations: IExplorations,
    private readonly _sidebar: Widget,
    private readonly _app: JupyterFrontEnd,
    private readonly _trans: TranslationBundle
  ) {
    _explorations.changed.connect(this._onExplorations, this);
    document.addEventListener('visibilitychange', () => this._onLook());
    this._onExplorations();
  }

  /** Dismiss the calls: the user has come back. */
  answer(): void {
    this._sidebar.title.className = '';
    this._shown.forEach(id => Notification.dismiss(id));
    this._shown.clear();
    this._called = null;
  }

  private _onLook(): void {
    if (this._called && this._isLookedAt(this._called)) {
      this.answer();
    }
  }

  private _onExplorations(): void {
    for (const model of this._explorations.open.values()) {
      if (!this._working.has(model)) {
        this._working.set(model, isWorking(model));
        model.changed.connect(this._onModel, this);
      }
    }
    this._onLook();
  }

  private _onModel(model: IExplorationModel): void {
    const wasWorking = this._working.get(model);
    this._working.set(model, isWorking(model));
    if (wasWorking && !isWorking(model) && model.isOpen && !this._isLookedAt(model)) {
      this._call(model);
    }
  }

  private _isLookedAt(model: IExplorationModel): boolean {
    const isShown = this._sidebar.isVisible && this._explorations.current === model;
    const isOpen = Array.from(this._app.shell.widgets('main')).some(
      widget => widget.isVisible && pathOf(widget) === model.path
    );
    return (isShown || isOpen) && !document.hidden;
  }

  private _call(model: IExplorationModel): void {
    const { exploration, progress } = model;
    this._sidebar.title.className = MARK;
    this._called = model;
    const words =
      wordsOf(this._trans, progress.error_parts) || statusWords(this._trans, exploration, progress);
    const task = exploration.task.text.trim().split('\n')[0].slice(0, 80);
    const hasFailed = progress.error !== '' || exploration.status === 'failed';
    const show = {
      label: this._trans.__('Show'),
      callback: () => void this._app.commands.execute('exploracoder:open', { id: model.id })
    };
    const id = Notification.emit(`${words} (${task})`, hasFailed ? 'warning' : 'info', {
      autoClose: CLOSE_AFTER_MS,
      actions: [show]
    });
    this._shown.add(id);
  }

  private _working = new WeakMap<IExplorationModel, boolean>();
  private _shown = new Set<string>();
  private _called: IExplorationModel | null = null;
}

function isWorking({ progress }: IExplorationModel): boolean {
  return progress.activity === 'working';
}

/** The path of the document that a widget shows. */
function pathOf(widget: Widget): string | undefined {
  return (widget as unknown as Partial<IDocumentWidget>).context?.path;
}
