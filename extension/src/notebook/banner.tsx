import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, runIcon } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import * as React from 'react';
import { NotebookHolder } from './notebookholder';
import { StripButton } from './toolbar';

/** Says above a notebook that its exploration is closed, with a button to resume it. */
export class Banner extends ReactWidget {
  constructor(
    private readonly _holder: NotebookHolder,
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-exploracoder-banner-host');
    _holder.changed.connect(this._sync, this);
    this._sync();
  }

  protected override render(): React.ReactElement | null {
    const { isClosed, panel } = this._holder;
    return isClosed ? (
      <Closed
        trans={this._trans}
        onResume={() => this._commands.execute('exploracoder:resume', { path: panel.context.path })}
      />
    ) : null;
  }

  /** Hide while there is nothing to say. */
  private _sync(): void {
    this.setHidden(!this._holder.isClosed);
    this.update();
  }
}

function Closed(props: {
  trans: TranslationBundle;
  onResume: () => Promise<unknown>;
}): React.ReactElement {
  const { onResume, trans } = props;
  const [isAsked, setAsked] = React.useState(false);
  const words = React.useId();
  const resume = () => {
    setAsked(true);
    void onResume().finally(() => setAsked(false));
  };
  return (
    <div role="note" className="jp-exploracoder-banner">
      <span id={words}>
        {isAsked
          ? trans.__('Rerunning the accepted steps…')
          : trans.__('This exploration is not open. Resume it to go on where it stopped.')}
      </span>
      <StripButton
        icon={runIcon}
        label={trans.__('Resume')}
        describedBy={words}
        isEnabled={!isAsked}
        isPrimary
        onClick={resume}
      />
    </div>
  );
}
