import { closeIcon, folderIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { InstalledLibrary, LibraryEvent } from '../protocol';
import { Action, IconAction } from './action';
import { Completion } from './completion';
import { ITools } from './tools';

/** The libraries to explore: one chip each, completed from what the kernel's Python has. */
export function LibraryPicker(props: {
  libraries: ReadonlyArray<string>;
  installed: ReadonlyArray<InstalledLibrary>;
  indexing: ReadonlyMap<string, LibraryEvent>;
  onChange: (libraries: string[]) => void;
  /** Ask for what is installed: the user is about to name one. */
  onAsk: () => void;
  /** Let the user choose a folder with source code; null when none was chosen. */
  pickFolder: () => Promise<string | null>;
  tools: ITools;
}): React.ReactElement {
  const { indexing, installed, libraries, onAsk, onChange, pickFolder } = props;
  const { trans } = props.tools;
  const add = (name: string) => {
    const named = name.trim();
    if (named && !libraries.includes(named)) {
      onChange([...libraries, named]);
    }
  };
  const options = installed
    .filter(one => !libraries.includes(one.name))
    .map(one => ({
      value: one.name,
      note: one.is_indexed ? trans.__('%1, indexed', one.version) : one.version
    }));
  return (
    <div role="group" aria-label={trans.__('Libraries')}>
      <div className="jp-exploracoder-label">{trans.__('Libraries')}</div>
      {libraries.length > 0 && (
        <ul className="jp-exploracoder-chips">
          {libraries.map(name => (
            <Chip
              key={name}
              name={name}
              event={indexing.get(name)}
              onRemove={() => onChange(libraries.filter(one => one !== name))}
              tools={props.tools}
            />
          ))}
        </ul>
      )}
      <div className="jp-exploracoder-row">
        <Completion
          label={trans.__('Add a library')}
          placeholder={trans.__('Name of a library')}
          options={options}
          onFocus={onAsk}
          onChoose={add}
        />
        <Action
          label={trans.__('Add a folder…')}
          icon={folderIcon}
          onClick={() => {
            void pickFolder().then(path => path && add(path));
          }}
        />
      </div>
    </div>
  );
}

function Chip(props: {
  name: string;
  event: LibraryEvent | undefined;
  onRemove: () => void;
  tools: ITools;
}): React.ReactElement {
  const { event, name, onRemove, tools } = props;
  const isIndexing = event !== undefined && !event.is_done;
  return (
    <li className="jp-exploracoder-chip">
      <span title={event?.error || event?.message}>{name}</span>
      {isIndexing && <span className="jp-exploracoder-note">{event.message}</span>}
      <IconAction label={tools.trans.__('Remove %1', name)} icon={closeIcon} onClick={onRemove} />
    </li>
  );
}
