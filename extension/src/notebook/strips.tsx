import { Cell } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { PanelLayout } from '@lumino/widgets';
import * as React from 'react';
import { ActionName, MORE } from '../actions';
import { openMenu } from '../widgets/menu';
import { NotebookHolder } from './notebookholder';
import { markOf } from './marks';
import { SolutionStrip } from './solutionstrip';
import { stepView } from './stepview';
import { IStripActions, StepStrip } from './toolbar';

interface IStripContext {
  holder: NotebookHolder;
  commands: CommandRegistry;
  trans: TranslationBundle;
}

/** Puts a strip above each candidate and solution cell of a notebook. */
export class CellStrips implements IDisposable {
  constructor(private readonly _context: IStripContext) {
    const { panel } = _context.holder;
    _context.holder.changed.connect(this.update, this);
    panel.model?.contentChanged.connect(this.update, this);
    panel.disposed.connect(this.dispose, this);
    this.update();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /** Update the strips before the next frame, once however often this is called. */
  update(): void {
    if (!this._isAsked && !this._isDisposed) {
      this._isAsked = true;
      requestAnimationFrame(() => {
        this._isAsked = false;
        if (!this._isDisposed && !this._context.holder.panel.isDisposed) {
          this._context.holder.panel.content.widgets.forEach(cell => this._updateCell(cell));
        }
      });
    }
  }

  private _updateCell(cell: Cell): void {
    const role = markOf(cell.model.metadata)?.role;
    const isOurs = this._context.holder.model && (role === 'candidate' || role === 'solution');
    const strip = this._strips.get(cell);
    cell.toggleClass('jp-mod-subtask', !!isOurs && role === 'candidate');
    if (!isOurs) {
      strip?.dispose();
      this._strips.delete(cell);
    } else if (strip) {
      strip.update();
    } else {
      this._add(cell);
    }
  }

  private _add(cell: Cell): void {
    const strip = new CellStrip(cell, this._context);
    this._strips.set(cell, strip);
    cell.disposed.connect(() => strip.dispose());
    void cell.ready.then(() => {
      if (!cell.isDisposed && !strip.isDisposed) {
        // Below the cell's header, above its input.
        (cell.layout as PanelLayout).insertWidget(1, strip);
      }
    });
  }

  private _strips = new WeakMap<Cell, CellStrip>();
  private _isAsked = false;
  private _isDisposed = false;
}

class CellStrip extends ReactWidget {
  constructor(
    private readonly _cell: Cell,
    private readonly _context: IStripContext
  ) {
    super();
    this.addClass('jp-exploracoder-strip-host');
  }

  protected override render(): React.ReactElement | null {
    const { commands, holder, trans } = this._context;
    const mark = this._cell.isDisposed ? null : markOf(this._cell.model.metadata);
    const model = holder.model;
    if (!mark || !model) {
      return null;
    }
    if (mark.role === 'solution') {
      const run = (name: ActionName) =>
        void commands.execute(`exploracoder:${name}`, { id: model.id });
      return <SolutionStrip model={model} run={run} trans={trans} />;
    }
    const subtask = mark.subtask ?? '';
    const { id, sharedModel } = this._cell.model;
    const isEdited = holder.isEdited(id, sharedModel.getSource());
    const view = stepView(trans, model, subtask, holder.shown(subtask), isEdited);
    const actions = this._actions(subtask, isEdited);
    return view && <StepStrip view={view} actions={actions} trans={trans} />;
  }

  private _actions(subtask: string, isEdited: boolean): IStripActions {
    const { commands, holder } = this._context;
    const candidate = holder.shown(subtask);
    const about = { id: holder.model?.id ?? null, subtask, candidate };
    return {
      // With an edit, the user runs the cell: these act on the server's version.
      can: name =>
        !(isEdited && (name === 'accept' || name === 'debug')) &&
        commands.isEnabled(`exploracoder:${name}`, about),
      run: (name, hint = '') => void commands.execute(`exploracoder:${name}`, { ...about, hint }),
      more: button => openMenu(commands, MORE, about, button),
      show: shown => holder.show(subtask, shown),
      takeBack: () => {
        holder.takeBack(this._cell.model.id);
        // The button with the focus disappears.
        void NotebookActions.focusActiveCell(holder.panel.content);
      }
    };
  }
}
