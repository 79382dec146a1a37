import * as React from 'react';

/** A part of the sidebar that can be folded away. */
export function Section(props: {
  title: string;
  /** A short text beside the title, such as a count. */
  note?: string;
  isOpen?: boolean;
  onToggle?: (isOpen: boolean) => void;
  children: React.ReactNode;
}): React.ReactElement {
  const { children, isOpen = true, note, onToggle, title } = props;
  return (
    <details
      className="jp-exploracoder-section"
      open={isOpen}
      onToggle={event => onToggle?.(event.currentTarget.open)}
    >
      <summary>
        <span className="jp-exploracoder-section-title">{title}</span>
        {note && <span className="jp-exploracoder-note">{note}</span>}
      </summary>
      <div className="jp-exploracoder-section-body">{children}</div>
    </details>
  );
}
