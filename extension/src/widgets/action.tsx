import { ellipsesIcon, LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

/**
 * A button with a label, and an optional icon. It keeps the focus when disabled; otherwise every
 * accepted step would lose it.
 */
export function Action(props: {
  label: string;
  onClick: () => void;
  icon?: LabIcon;
  isPrimary?: boolean;
  isDisabled?: boolean;
  /** A tooltip, where the label is not enough. */
  title?: string;
}): React.ReactElement {
  const { icon, isDisabled, isPrimary, label, onClick, title } = props;
  const kind = isPrimary ? 'jp-mod-accept' : 'jp-exploracoder-quiet';
  return (
    <button
      type="button"
      className={`jp-mod-styled ${kind} jp-exploracoder-action`}
      aria-disabled={isDisabled ?? false}
      title={title}
      onClick={() => !isDisabled && onClick()}
    >
      {icon && <icon.react tag="span" aria-hidden="true" />}
      {label}
    </button>
  );
}

/** A button that shows an icon only; its label is its accessible name and tooltip. */
export function IconAction(props: {
  label: string;
  icon: LabIcon;
  onClick: () => void;
  isDisabled?: boolean;
  /** Whether what it opens is open. */
  isExpanded?: boolean;
}): React.ReactElement {
  const { icon, isDisabled, isExpanded, label, onClick } = props;
  return (
    <button
      type="button"
      className="jp-ToolbarButtonComponent jp-mod-minimal jp-Button jp-exploracoder-icon-action"
      aria-label={label}
      title={label}
      aria-expanded={isExpanded}
      aria-disabled={isDisabled ?? false}
      onClick={() => !isDisabled && onClick()}
    >
      <icon.react tag="span" aria-hidden="true" />
    </button>
  );
}

/** A button that opens a menu of further actions. */
export function MenuButton(props: {
  label: string;
  onOpen: (button: HTMLElement) => void;
  isDisabled?: boolean;
}): React.ReactElement {
  const { isDisabled, label, onOpen } = props;
  return (
    <button
      type="button"
      className="jp-ToolbarButtonComponent jp-mod-minimal jp-Button jp-exploracoder-icon-action"
      aria-label={label}
      title={label}
      aria-haspopup="menu"
      aria-disabled={isDisabled ?? false}
      onClick={event => !isDisabled && onOpen(event.currentTarget)}
    >
      <ellipsesIcon.react tag="span" aria-hidden="true" />
    </button>
  );
}
