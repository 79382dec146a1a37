import {
  caretDownIcon,
  caretLeftIcon,
  caretRightIcon,
  LabIcon,
  undoIcon
} from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { isComposing } from '../composing';
import { ActionName, ACTIONS, AGAIN, MORE } from '../actions';
import { MenuButton } from '../widgets/action';
import { IStepView } from './stepview';

/** What a strip's buttons do. */
export interface IStripActions {
  can(name: ActionName): boolean;
  run(name: ActionName, hint?: string): void;
  /** Open the menu of further actions. */
  more(button: HTMLElement): void;
  show(candidate: string): void;
  takeBack(): void;
}

interface IStripProps {
  view: IStepView;
  actions: IStripActions;
  trans: TranslationBundle;
}

/** The row above a subtask's cell: its status, its candidates and the actions. */
export function StepStrip(props: IStripProps): React.ReactElement {
  const { actions, trans, view } = props;
  const description = React.useId();
  const { accept } = ACTIONS(trans);
  return (
    <div
      role="group"
      aria-labelledby={description}
      className="jp-exploracoder-strip"
      onKeyDown={keepKeys}
    >
      <span id={description} className="jp-exploracoder-hidden">
        {view.description}
      </span>
      <span className="jp-exploracoder-chip" data-kind={view.state.kind}>
        {view.state.words}
      </span>
      <Switcher {...props} />
      <span className="jp-exploracoder-strip-actions">
        <StripButton
          describedBy={description}
          icon={accept.icon}
          label={accept.label}
          isEnabled={actions.can('accept')}
          isPrimary={view.state.kind === 'proposed'}
          onClick={() => actions.run('accept')}
        />
        <TryAgain {...props} describedBy={description} />
        {view.isEdited && (
          <StripButton
            describedBy={description}
            icon={undoIcon}
            label={trans.__('Take back the edit')}
            isEnabled
            onClick={() => actions.takeBack()}
          />
        )}
        <MenuButton
          label={trans.__('More about this subtask')}
          isDisabled={!MORE.some(actions.can)}
          onOpen={actions.more}
        />
      </span>
    </div>
  );
}

/** Asks for another attempt, with an optional hint in the user's words. */
function TryAgain(props: IStripProps & { describedBy: string }): React.ReactElement {
  const { actions, describedBy, trans } = props;
  const [isOpen, setOpen] = React.useState(false);
  const [hint, setHint] = React.useState('');
  const button = React.useRef<HTMLButtonElement>(null);
  const panel = React.useId();
  const possible = AGAIN.filter(actions.can);
  const isShown = isOpen && possible.length > 0;
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const run = (name: ActionName) => {
    actions.run(name, hint.trim());
    setHint('');
    close();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className="jp-mod-styled jp-mod-small jp-exploracoder-quiet jp-exploracoder-action"
        aria-describedby={describedBy}
        aria-disabled={!possible.length}
        aria-expanded={isShown}
        aria-controls={isShown ? panel : undefined}
        onClick={() => setOpen(!isOpen && possible.length > 0)}
      >
        {trans.__('Try again')}
        <caretDownIcon.react tag="span" aria-hidden="true" />
      </button>
      {isShown && (
        <div
          id={panel}
          role="group"
          aria-label={trans.__('Try again')}
          className="jp-exploracoder-again"
          onKeyDown={event => {
            if (event.key === 'Escape' && !isComposing(event)) {
              event.stopPropagation();
              close();
            }
          }}
        >
          <input
            className="jp-mod-styled"
            autoFocus
            aria-label={trans.__('Hint')}
            placeholder={trans.__('What is wrong, or how to do it (optional)')}
            value={hint}
            maxLength={2000}
            onChange={event => setHint(event.target.value)}
            onKeyDown={event => {
              if (event.key === 'Enter' && !isComposing(event)) {
                // Or the key would press the button that gets the focus.
                event.preventDefault();
                run(possible[0]);
              }
            }}
          />
          {possible.map(name => {
            const { icon, label } = ACTIONS(trans)[name];
            return (
              <StripButton
                key={name}
                icon={icon}
                label={label}
                isEnabled
                onClick={() => run(name)}
              />
            );
          })}
        </div>
      )}
    </>
  );
}

function Switcher(props: IStripProps): React.ReactElement | null {
  const { actions, trans, view } = props;
  if (!view.count) {
    return null;
  }
  return (
    <span className="jp-exploracoder-switcher">
      <SwitchButton
        icon={caretLeftIcon}
        label={trans.__('Previous candidate')}
        target={view.previous}
        onShow={actions.show}
      />
      <span>
        {view.place
          ? trans.__('%1 of %2', view.place, view.count)
          : trans._n('%1 candidate', '%1 candidates', view.count)}
      </span>
      <SwitchButton
        icon={caretRightIcon}
        label={trans.__('Next candidate')}
        target={view.next}
        onShow={actions.show}
      />
    </span>
  );
}

function SwitchButton(props: {
  icon: LabIcon;
  label: string;
  target: string | null;
  onShow: (candidate: string) => void;
}): React.ReactElement {
  const { icon, label, onShow, target } = props;
  return (
    <button
      type="button"
      className="jp-ToolbarButtonComponent jp-mod-minimal jp-Button jp-exploracoder-icon-action"
      aria-label={label}
      title={label}
      aria-disabled={target === null}
      onClick={() => target !== null && onShow(target)}
    >
      <icon.react tag="span" aria-hidden="true" />
    </button>
  );
}

/**
 * A small button with a label, described by what it is about. It keeps the focus when disabled;
 * otherwise every accepted step would lose it.
 */
export function StripButton(props: {
  icon: LabIcon;
  label: string;
  isEnabled: boolean;
  onClick: () => void;
  describedBy?: string;
  isPrimary?: boolean;
}): React.ReactElement {
  const { describedBy, icon, isEnabled, isPrimary, label, onClick } = props;
  const kind = isPrimary ? 'jp-mod-accept' : 'jp-exploracoder-quiet';
  return (
    <button
      type="button"
      className={`jp-mod-styled jp-mod-small ${kind} jp-exploracoder-action`}
      aria-describedby={describedBy}
      aria-disabled={!isEnabled}
      onClick={() => isEnabled && onClick()}
    >
      <icon.react tag="span" aria-hidden="true" />
      {label}
    </button>
  );
}

/** Keep these keys from the notebook while a button of the strip has the focus. */
export function keepKeys(event: React.KeyboardEvent): void {
  if (event.key === 'Enter' || event.key === ' ') {
    event.stopPropagation();
  }
}
