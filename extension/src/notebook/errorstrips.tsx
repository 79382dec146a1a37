import { Cell } from '@jupyterlab/cells';
import { Notebook, NotebookActions } from '@jupyterlab/notebook';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { PanelLayout } from '@lumino/widgets';
import * as React from 'react';
import { failureOf, isOfLibrary } from '../prefill';
import { explorationIcon } from '../icons';
import { KEY } from './marks';
import { StripButton, keepKeys } from './toolbar';

/** Offers help below each user cell that fails in a library, until the cell runs again. */
export class ErrorStrips {
  constructor(
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {
    NotebookActions.executionScheduled.connect((_, { cell }) => this._remove(cell));
    NotebookActions.executed.connect((_, { cell, notebook, success }) => {
      this._remove(cell);
      const error = success ? null : failureOf(cell);
      if (error && isOfLibrary(error) && !isExploration(notebook)) {
        this._add(cell);
      }
    });
  }

  private _add(cell: Cell): void {
    const strip = new ErrorStrip(cell.model.id, this._commands, this._trans);
    this._strips.set(cell, strip);
    cell.disposed.connect(() => strip.dispose());
    (cell.layout as PanelLayout).addWidget(strip);
  }

  private _remove(cell: Cell): void {
    this._strips.get(cell)?.dispose();
    this._strips.delete(cell);
  }

  private _strips = new WeakMap<Cell, ErrorStrip>();
}

class ErrorStrip extends ReactWidget {
  constructor(
    private readonly _cell: string,
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-exploracoder-strip-host');
  }

  protected override render(): React.ReactElement {
    const explore = () =>
      void this._commands.execute('exploracoder:explore-cell', { cell: this._cell });
    return (
      <div
        role="group"
        aria-label={this._trans.__('ExploraCoder')}
        className="jp-exploracoder-strip"
        onKeyDown={keepKeys}
      >
        <StripButton
          icon={explorationIcon}
          label={this._trans.__('Explore this error')}
          isEnabled
          onClick={explore}
        />
      </div>
    );
  }
}

function isExploration(notebook: Notebook): boolean {
  return notebook.model?.getMetadata(KEY) !== undefined;
}
