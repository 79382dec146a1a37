import {
  addIcon,
  closeIcon,
  listIcon,
  notebookIcon,
  ReactWidget,
  UseSignal
} from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { ISignal, Signal } from '@lumino/signaling';
import * as React from 'react';
import { isComposing } from '../composing';
import { Explorations } from '../explorations';
import { explorationIcon } from '../icons';
import { IExplorationModel } from '../tokens';
import { IPrices } from '../wording';
import { IconAction } from './action';
import { Boundary } from './boundary';
import { ExplorationView } from './explorationview';
import { Problem } from './problem';
import { Section } from './section';
import { Switcher } from './switcher';
import { ITaskFormProps, TaskForm } from './taskform';
import { ITools } from './tools';

/** What the sidebar shows and asks for. */
export interface ISidebarOptions {
  readonly explorations: Explorations;
  readonly tools: ITools;
  /** The form's props that depend on the open notebook. */
  readonly form: () => Omit<ITaskFormProps, 'status' | 'indexing' | 'lookups' | 'models' | 'tools'>;
  readonly prices: () => IPrices | null;
  readonly onShow: () => void;
}

/** The sidebar: the form for a new exploration, or the current exploration. */
export class Sidebar extends ReactWidget {
  static readonly ID = 'exploracoder-sidebar';

  constructor(private readonly _options: ISidebarOptions) {
    super();
    const { trans } = _options.tools;
    this.id = Sidebar.ID;
    this.addClass('jp-exploracoder-sidebar');
    this.title.icon = explorationIcon;
    this.title.caption = trans.__('ExploraCoder');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('ExploraCoder'));
  }

  /** Redraw after changes outside the explorations: another notebook, a setting, a message. */
  refresh(): void {
    this._refreshed.emit();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._options.onShow();
  }

  /** Say why something was refused. */
  complain(message: string): void {
    this._complaint = message;
    this.refresh();
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this._focus();
    // The command palette restores the previous focus once its command has run.
    setTimeout(() => {
      if (this.isVisible && !this.node.contains(document.activeElement)) {
        this._focus();
      }
    }, 50);
  }

  /**
   * Focus the lookup field if that is wanted, else the task, else the selected subtask, else any
   * button.
   */
  private _focus(): void {
    const usual = ['textarea', '[aria-current] button', 'button'];
    const { isWanted } = this._options.explorations.lookups;
    for (const sought of isWanted ? ['.jp-exploracoder-lookup input', ...usual] : usual) {
      const found = this.node.querySelector<HTMLElement>(sought);
      if (found) {
        found.focus();
        return;
      }
    }
  }

  protected override render(): React.ReactElement {
    const { explorations } = this._options;
    return (
      <UseSignal signal={explorations.changed}>
        {() => <UseSignal signal={this._signal}>{() => this._body()}</UseSignal>}
      </UseSignal>
    );
  }

  private _body(): React.ReactElement {
    const { explorations, form, prices, tools } = this._options;
    const { current, indexing, isConnected, lookups, models, past, status } = explorations;
    const { trans } = tools;
    const list = (
      <Switcher explorations={explorations} onShow={id => this._switchTo(id)} tools={tools} />
    );
    return (
      <>
        <Header
          model={current}
          isSwitching={this._isSwitching}
          onNew={() => this._show(null)}
          onSwitch={() => this._switch(!this._isSwitching)}
          tools={tools}
        />
        {this._isSwitching && (
          <div
            className="jp-exploracoder-scroll"
            onKeyDown={event =>
              event.key === 'Escape' && !isComposing(event) && this._switch(false)
            }
          >
            {list}
          </div>
        )}
        <div className="jp-exploracoder-scroll" hidden={this._isSwitching}>
          <Problem status={status} isConnected={isConnected} tools={tools} />
          <Complaint message={this._complaint} onDismiss={() => this.complain('')} tools={tools} />
          <Boundary key={current?.id ?? ''} tools={tools}>
            {current ? (
              <ExplorationView
                model={current}
                prices={prices()}
                lookups={lookups}
                indexing={indexing}
                exportUrl={format => explorations.exportUrl(current.id, format)}
                tools={tools}
              />
            ) : (
              <>
                <TaskForm
                  {...form()}
                  status={status}
                  indexing={indexing}
                  lookups={lookups}
                  models={models}
                  tools={tools}
                />
                <Section
                  title={trans.__('Explorations')}
                  note={past.length ? `${past.length}` : undefined}
                >
                  {list}
                </Section>
              </>
            )}
          </Boundary>
        </div>
      </>
    );
  }

  /** Show the list of all explorations in place of the current one, or go back to it. */
  private _switch(isSwitching: boolean): void {
    this._left = isSwitching ? (this._options.explorations.current?.id ?? null) : null;
    this.refresh();
    const sought = isSwitching
      ? '[type="search"], .jp-exploracoder-entry'
      : '.jp-exploracoder-header [aria-expanded]';
    void this.renderPromise?.then(() =>
      requestAnimationFrame(() => this.node.querySelector<HTMLElement>(sought)?.focus())
    );
  }

  private get _isSwitching(): boolean {
    return this._left !== null && this._left === this._options.explorations.current?.id;
  }

  private _switchTo(id: string): void {
    this._show(id);
    requestAnimationFrame(() => this._focus());
  }

  private _show(id: string | null): void {
    this._complaint = '';
    this._left = null;
    this._options.explorations.show(id);
  }

  private get _signal(): ISignal<this, void> {
    return this._refreshed;
  }

  private _complaint = '';
  // The exploration that was shown when the list was opened in its place.
  private _left: string | null = null;
  private _refreshed = new Signal<this, void>(this);
}

function Header(props: {
  model: IExplorationModel | null;
  isSwitching: boolean;
  onNew: () => void;
  onSwitch: () => void;
  tools: ITools;
}): React.ReactElement {
  const { isSwitching, model, onNew, onSwitch, tools } = props;
  const { execute, trans } = tools;
  return (
    <div className="jp-SidePanel-header jp-exploracoder-header">
      <h2>{trans.__('ExploraCoder')}</h2>
      {model && (
        <span>
          <IconAction
            label={trans.__('All explorations')}
            icon={listIcon}
            isExpanded={isSwitching}
            onClick={onSwitch}
          />
          <IconAction
            label={trans.__('Open its notebook')}
            icon={notebookIcon}
            onClick={() => execute('exploracoder:open-notebook', { id: model.id })}
          />
          <IconAction label={trans.__('New exploration')} icon={addIcon} onClick={onNew} />
          {model.isOpen && (
            <IconAction
              label={trans.__('End this exploration')}
              icon={closeIcon}
              onClick={() => execute('exploracoder:close', { id: model.id })}
            />
          )}
        </span>
      )}
    </div>
  );
}

function Complaint(props: {
  message: string;
  onDismiss: () => void;
  tools: ITools;
}): React.ReactElement | null {
  const { message, onDismiss, tools } = props;
  if (!message) {
    return null;
  }
  return (
    <div role="alert" className="jp-exploracoder-warning">
      {message}
      <IconAction label={tools.trans.__('Dismiss')} icon={closeIcon} onClick={onDismiss} />
    </div>
  );
}
