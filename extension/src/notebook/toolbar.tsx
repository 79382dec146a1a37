import {
  bugIcon,
  caretLeftIcon,
  caretRightIcon,
  checkIcon,
  fastForwardIcon,
  LabIcon,
  refreshIcon,
  undoIcon
} from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { IStepView } from './stepview';

/** What a strip's buttons do. */
export interface IStripActions {
  accept(candidate: string | null): void;
  debug(candidate: string | null): void;
  draft(): void;
  goBack(): void;
  skip(): void;
  show(candidate: string): void;
  takeBack(): void;
}

/** The strip above a subtask's cell: how it stands, its candidates, and what can be done. */
export function StepStrip(props: {
  view: IStepView;
  actions: IStripActions;
  trans: TranslationBundle;
}): React.ReactElement {
  const { actions, trans, view } = props;
  const description = React.useId();
  const button = { describedBy: description };
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
          {...button}
          icon={checkIcon}
          label={trans.__('Accept')}
          isEnabled={view.canAccept}
          isPrimary={view.state.kind === 'proposed'}
          onClick={() => actions.accept(view.candidate)}
        />
        <StripButton
          {...button}
          icon={bugIcon}
          label={trans.__('Debug')}
          isEnabled={view.canDebug}
          onClick={() => actions.debug(view.candidate)}
        />
        <StripButton
          {...button}
          icon={refreshIcon}
          label={trans.__('Other candidates')}
          isEnabled={view.canDraft}
          onClick={() => actions.draft()}
        />
        <StripButton
          {...button}
          icon={undoIcon}
          label={trans.__('Go back here')}
          isEnabled={view.canGoBack}
          onClick={() => actions.goBack()}
        />
        <StripButton
          {...button}
          icon={fastForwardIcon}
          label={trans.__('Skip')}
          isEnabled={view.canSkip}
          onClick={() => actions.skip()}
        />
        {view.isEdited && (
          <StripButton
            {...button}
            icon={undoIcon}
            label={trans.__('Take back the edit')}
            isEnabled
            onClick={() => actions.takeBack()}
          />
        )}
      </span>
    </div>
  );
}

function Switcher(props: {
  view: IStepView;
  actions: IStripActions;
  trans: TranslationBundle;
}): React.ReactElement | null {
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
 * A small button with words, described by what it is about. One that cannot be used now keeps the
 * focus: it would be lost with every step that is accepted.
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

/** The notebook would take these keys for its own while a button of the strip has the focus. */
export function keepKeys(event: React.KeyboardEvent): void {
  if (event.key === 'Enter' || event.key === ' ') {
    event.stopPropagation();
  }
}
