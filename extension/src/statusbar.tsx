import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import * as React from 'react';
import { Change } from './protocol';
import { IExplorationModel, IExplorations } from './tokens';
import { isOpen, statusWords, wordsOf } from './wording';

/** The current exploration's state in the status bar. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'exploracoder:statusbar',
  description: 'Says in the status bar what the current exploration is at.',
  autoStart: true,
  requires: [IExplorations],
  optional: [IStatusBar, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    explorations: IExplorations,
    statusBar: IStatusBar | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('exploracoder');
    const item = new StatusItem(explorations, app.commands, trans);
    statusBar?.registerStatusItem('exploracoder:status', {
      item,
      align: 'left',
      rank: 5,
      isActive: () => explorations.current !== null,
      activeStateChanged: explorations.changed
    });
  }
};

export default plugin;

/** Shows the current exploration's progress; a click opens the sidebar. */
class StatusItem extends ReactWidget {
  constructor(
    private readonly _explorations: IExplorations,
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-exploracoder-statusbar');
    _explorations.changed.connect(this._follow, this);
    this._follow();
  }

  protected override render(): React.ReactElement | null {
    const model = this._model;
    if (!model) {
      return null;
    }
    const { exploration, progress } = model;
    const { steps } = exploration;
    const decided = steps.filter(step => !isOpen(step)).length;
    const count = steps.length ? this._trans.__('%1 of %2', decided, steps.length) : '';
    const words = statusWords(this._trans, exploration, progress);
    return (
      <button
        type="button"
        className="jp-StatusBar-TextItem jp-exploracoder-statusbar-item"
        title={this._trans.__('Show ExploraCoder')}
        onClick={() => void this._commands.execute('exploracoder:open', { id: model.id })}
      >
        {[
          this._trans.__('ExploraCoder'),
          count,
          wordsOf(this._trans, progress.error_parts) || words
        ]
          .filter(Boolean)
          .join(' · ')}
      </button>
    );
  }

  private _follow(): void {
    const model = this._explorations.current;
    if (model !== this._model) {
      this._model?.changed.disconnect(this._onModel, this);
      this._model = model;
      model?.changed.connect(this._onModel, this);
    }
    this.update();
  }

  private _onModel(_: IExplorationModel, __: Change | null): void {
    this.update();
  }

  private _model: IExplorationModel | null = null;
}
