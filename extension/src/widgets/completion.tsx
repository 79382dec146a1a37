import * as React from 'react';
import { isComposing } from '../composing';

const MAX_SHOWN = 12;

/** A value to choose, with a short note. */
export interface IOption {
  readonly value: string;
  readonly note: string;
}

/** A text box with completion (a combobox with a list), which also accepts other values. */
export function Completion(props: {
  label: string;
  placeholder: string;
  options: ReadonlyArray<IOption>;
  onFocus: () => void;
  onChoose: (value: string) => void;
}): React.ReactElement {
  const { label, onFocus, options, placeholder } = props;
  const [text, setText] = React.useState('');
  const [active, setActive] = React.useState(-1);
  const [isOpen, setOpen] = React.useState(false);
  const id = React.useId();
  const shown = isOpen ? matching(options, text) : [];

  const choose = (value: string) => {
    props.onChoose(value);
    setText('');
    setActive(-1);
    setOpen(false);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (isComposing(event)) {
      return;
    }
    if (event.key === 'Enter' || (event.key === ',' && text.trim())) {
      event.preventDefault();
      choose(shown[active]?.value ?? text);
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setActive(Math.max(-1, Math.min(active + step, shown.length - 1)));
    } else if (event.key === 'Escape' && isOpen) {
      event.stopPropagation();
      setOpen(false);
      setActive(-1);
    }
  };
  return (
    <div className="jp-exploracoder-completion">
      <input
        className="jp-mod-styled"
        role="combobox"
        aria-label={label}
        aria-expanded={shown.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        placeholder={placeholder}
        value={text}
        maxLength={500}
        onFocus={() => {
          setOpen(true);
          onFocus();
        }}
        // A name that was typed but not confirmed counts, too.
        onBlur={() => (text.trim() ? choose(text) : setOpen(false))}
        onChange={event => {
          setText(event.target.value);
          setActive(-1);
          setOpen(true);
        }}
        onKeyDown={onKeyDown}
      />
      <ul role="listbox" id={`${id}-list`} aria-label={label} hidden={!shown.length}>
        {shown.map((option, index) => (
          <li
            key={option.value}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            // On mouse down: the blur that follows would choose the typed text.
            onMouseDown={event => {
              event.preventDefault();
              choose(option.value);
            }}
          >
            {option.value} <span className="jp-exploracoder-note">{option.note}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Options that begin with the text, then those with it elsewhere. */
function matching(options: ReadonlyArray<IOption>, text: string): IOption[] {
  const sought = text.trim().toLowerCase();
  const place = ({ value }: IOption) => value.toLowerCase().indexOf(sought);
  const found = options.filter(option => place(option) >= 0);
  return found
    .sort((one, other) => Math.sign(place(one)) - Math.sign(place(other)))
    .slice(0, MAX_SHOWN);
}
