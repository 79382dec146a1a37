import { Notification } from '@jupyterlab/apputils';
import { Cell } from '@jupyterlab/cells';
import { URLExt } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { BoxLayout } from '@lumino/widgets';
import { IExplorationModel, IExplorations } from '../tokens';
import { Banner } from './banner';
import { NotebookHolder } from './notebookholder';
import { LiveStrip } from './livestrip';
import { markOf } from './marks';
import { stepOf } from './candidatepreview';
import { ExplorationContents, isExploration } from './provider';
import { CellStrips } from './strips';
import { IExplorationNotebooks } from './tokens';

/** What it takes to open and fill notebooks. */
export interface IPanelsOptions {
  tracker: INotebookTracker;
  documents: IDocumentManager;
  /** Saves notebooks; null if another extension does that. */
  contents: ExplorationContents | null;
  explorations: IExplorations;
  commands: CommandRegistry;
  trans: TranslationBundle;
  /** Whether notebooks open side by side; otherwise each has its own browser tab. */
  isLab: boolean;
}

/** Tracks the open notebooks, and makes those of explorations live. */
export class Panels implements IExplorationNotebooks {
  constructor(private readonly _options: IPanelsOptions) {
    const { tracker } = _options;
    tracker.forEach(panel => this._watch(panel));
    tracker.widgetAdded.connect((_, panel) => this._watch(panel));
    tracker.currentChanged.connect(() => this._onCurrent());
  }

  get own(): NotebookPanel | null {
    if (this._own && !this._own.isDisposed) {
      return this._own;
    }
    const { tracker } = this._options;
    return tracker.find(panel => panel.context.isReady && !this._holders.has(panel)) ?? null;
  }

  get hasOthers(): boolean {
    return this._options.tracker.filter(panel => !this._holders.has(panel)).length > 1;
  }

  get active(): NotebookPanel | null {
    const panel = this._options.tracker.currentWidget;
    return panel && this._holders.has(panel) ? panel : null;
  }

  get activeModel(): IExplorationModel | null {
    return (this.active && this._holders.get(this.active)?.model) ?? null;
  }

  get activeSubtask(): string | null {
    const cell = this.active?.content.activeCell;
    return markOf(cell?.model.metadata)?.subtask ?? null;
  }

  async open(model: IExplorationModel, subtask: string | null = null): Promise<void> {
    if (!this._options.isLab) {
      this._openTab(model.path);
      return;
    }
    const panel = this._find(model) ?? this._openPanel(model);
    if (panel && subtask) {
      await panel.context.ready;
      const cells = panel.content.widgets;
      goTo(
        panel,
        cells.findIndex(cell => cell.model.id === subtask)
      );
    }
  }

  move(by: 1 | -1): Cell | null {
    const { active } = this;
    if (!active) {
      return null;
    }
    const { activeCellIndex, widgets } = active.content;
    let index = activeCellIndex + by;
    while (widgets[index] && markOf(widgets[index].model.metadata)?.role !== 'candidate') {
      index += by;
    }
    goTo(active, index);
    return widgets[index] ?? null;
  }

  turn(by: 1 | -1): boolean {
    const { active, activeSubtask: subtask } = this;
    const holder = active && this._holders.get(active);
    const step = subtask && holder?.model && stepOf(holder.model.exploration, subtask);
    if (!holder || !step) {
      return false;
    }
    const ids = step.candidates.map(one => one.id);
    const other = ids[ids.indexOf(holder.shown(step.subtask.id) ?? '') + by];
    if (other) {
      holder.show(step.subtask.id, other);
    }
    return other !== undefined;
  }

  ownOf(model: IExplorationModel): NotebookPanel | null {
    const path = model.sourcePath || model.path.replace(/-exploration(-?\d+)?\.ipynb$/, '.ipynb');
    const found = this._options.tracker.find(
      panel => panel.context.path === path && !this._holders.has(panel)
    );
    return found ?? this.own;
  }

  shown(model: IExplorationModel, subtask: string): string | null {
    const panel = this._find(model);
    return (panel && this._holders.get(panel)?.shown(subtask)) ?? null;
  }

  show(model: IExplorationModel, subtask: string, candidate: string): void {
    const panel = this._find(model);
    const holder = panel && this._holders.get(panel);
    const cells = panel?.content.widgets.map(cell => cell.model) ?? [];
    const own = cells.filter(cell => markOf(cell.metadata)?.subtask === subtask);
    // Keep what the user has typed there.
    if (holder && !own.some(cell => holder.isEdited(cell.id, cell.sharedModel.getSource()))) {
      holder.show(subtask, candidate);
    }
  }

  private _find(model: IExplorationModel): NotebookPanel | null {
    const { tracker } = this._options;
    // A notebook that was just renamed has another path than the server knows.
    const held = tracker.find(panel => this._holders.get(panel)?.model === model);
    return held ?? tracker.find(panel => panel.context.path === model.path) ?? null;
  }

  private _openPanel(model: IExplorationModel): NotebookPanel | null {
    const { documents, tracker } = this._options;
    const own = this.ownOf(model);
    const opened = documents.openOrReveal(
      model.path,
      'Notebook',
      { id: model.kernelId },
      own ? { mode: 'split-right', ref: own.id, activate: false } : { activate: false }
    ) as unknown as NotebookPanel | undefined;
    if (opened && own) {
      void opened.revealed.then(() => keepCurrent(tracker, own, opened));
    }
    return opened ?? null;
  }

  /** Open a notebook in its own browser tab. */
  private _openTab(path: string): void {
    const { baseUrl } = this._options.documents.services.serverSettings;
    const url = URLExt.join(baseUrl, 'notebooks', URLExt.encodeParts(path));
    const name = `exploracoder-${url}`;
    // Browsers let a page open a tab only right after a click.
    if (!window.open(url, name)) {
      const { trans } = this._options;
      const open = () => void window.open(url, name);
      Notification.info(trans.__('The exploration’s notebook is ready.'), {
        autoClose: false,
        actions: [{ label: trans.__('Open it'), callback: open }]
      });
    }
  }

  private _watch(panel: NotebookPanel): void {
    void panel.context.ready.then(() => {
      if (!panel.isDisposed && this._isExploration(panel)) {
        this._makeLive(panel);
      }
      this._onCurrent();
    });
  }

  private _isExploration(panel: NotebookPanel): boolean {
    const isSaved = isExploration(panel.model?.sharedModel.getMetadata());
    return isSaved || this._options.explorations.forPath(panel.context.path) !== null;
  }

  private _makeLive(panel: NotebookPanel): void {
    const { commands, contents, documents, explorations, trans } = this._options;
    const holder = new NotebookHolder(panel, explorations, documents.services, contents);
    this._holders.set(panel, holder);
    panel.content.addClass('jp-mod-exploration');
    this._strips.set(panel, new CellStrips({ holder, commands, trans }));
    panel.contentHeader.insertWidget(0, new Banner(holder, commands, trans));
    (panel.layout as BoxLayout).addWidget(new LiveStrip(holder, trans));
    if (this._own === panel) {
      this._own = null;
    }
    let known: IExplorationModel | null = null;
    holder.changed.connect(() => {
      if (holder.model !== known) {
        known = holder.model;
        this._onCurrent();
      }
    });
  }

  /** The sidebar shows the exploration whose notebook the user goes to. */
  private _onCurrent(): void {
    const { explorations, tracker } = this._options;
    const panel = tracker.currentWidget;
    if (!panel?.context.isReady) {
      return;
    }
    const holder = this._holders.get(panel);
    if (!holder) {
      this._own = panel;
    } else if (holder.model && holder.model !== explorations.current) {
      explorations.show(holder.model.id);
    }
  }

  private _holders = new WeakMap<NotebookPanel, NotebookHolder>();
  private _strips = new WeakMap<NotebookPanel, CellStrips>();
  private _own: NotebookPanel | null = null;
}

function goTo(panel: NotebookPanel, index: number): void {
  if (panel.content.widgets[index]) {
    panel.content.deselectAll();
    panel.content.activeCellIndex = index;
    void panel.content.scrollToItem(index, 'smart');
  }
}

/**
 * A notebook that opens while none has the focus becomes JupyterLab's current one, and stays so
 * when the user goes back to their own: keys pressed there would act on the other. The tracker
 * only notices focus that comes from elsewhere.
 */
function keepCurrent(tracker: INotebookTracker, own: NotebookPanel, opened: NotebookPanel): void {
  // A user in another document or a terminal has left their notebook.
  const isElsewhere = document.activeElement?.closest('.jp-MainAreaWidget, .jp-Document');
  if (tracker.currentWidget === opened && !isElsewhere && !own.isDisposed) {
    opened.node.dispatchEvent(new FocusEvent('focus'));
    own.node.dispatchEvent(new FocusEvent('focus'));
    own.node.dispatchEvent(new FocusEvent('blur'));
  }
}
