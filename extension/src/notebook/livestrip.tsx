import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { BoxLayout } from '@lumino/widgets';
import * as React from 'react';
import { IExplorationModel } from '../tokens';
import { LiveText } from '../widgets/livetext';
import { NotebookHolder } from './notebookholder';

/** Shows what the model is writing, below an exploration's notebook; hidden otherwise. */
export class LiveStrip extends ReactWidget {
  constructor(
    private readonly _holder: NotebookHolder,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-exploracoder-livestrip');
    BoxLayout.setStretch(this, 0);
    this.hide();
    _holder.changed.connect(this._follow, this);
    this._follow();
  }

  protected override render(): React.ReactElement | null {
    return this._model && <LiveText model={this._model} trans={this._trans} />;
  }

  private _follow(): void {
    const { model } = this._holder;
    if (model !== this._model) {
      this._model?.streamed.disconnect(this._onText, this);
      this._model = model;
      model?.streamed.connect(this._onText, this);
      this.update();
    }
    this._onText();
  }

  private _onText(): void {
    this.setHidden(!this._model?.stream);
  }

  private _model: IExplorationModel | null = null;
}
