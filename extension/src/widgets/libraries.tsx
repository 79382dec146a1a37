import { closeIcon, folderIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { InstalledLibrary, LibraryEvent } from '../protocol';
import { Action, IconAction } from './action';
import { Completion } from './completion';
import { ITools } from './tools';

/** The libraries to explore: one chip each, with completion from the kernel's Python. */
export function LibraryPicker(props: {
  libraries: ReadonlyArray<string>;
  installed: ReadonlyArray<InstalledLibrary>;
  /** Why it is not known what is installed; empty if it is. */
  problem: string;
  indexing: ReadonlyMap<string, LibraryEvent>;
  onChange: (libraries: string[]) => void;
  /** Read a library's docs; rejects when there is no such library. */
  index: (name: string) => Promise<void>;
  /** Load what is installed: the user is about to name one. */
  onAsk: () => void;
  /** Let the user choose a folder with source code; null when none was chosen. */
  pickFolder: () => Promise<string | null>;
  tools: ITools;
}): React.ReactElement {
  const { indexing, installed, libraries, onAsk, onChange, pickFolder, problem } = props;
  const { trans } = props.tools;
  const [faults, setFaults] = React.useState<ReadonlyMap<string, string>>(new Map());
  const add = (name: string) => {
    const named = name.trim();
    if (named && !libraries.includes(named)) {
      onChange([...libraries, named]);
      // Index while the task is still being written; this also catches typos at once.
      props.index(named).catch(reason => {
        const fault = reason instanceof Error ? reason.message : `${reason}`;
        setFaults(known => new Map(known).set(named, fault));
      });
    }
  };
  const said = [...libraries.flatMap(name => faults.get(name) ?? []), problem].filter(Boolean);
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
              event={eventOf(indexing, name)}
              isFaulty={faults.has(name)}
              onRemove={() => onChange(libraries.filter(one => one !== name))}
              tools={props.tools}
            />
          ))}
        </ul>
      )}
      <div role="alert" className="jp-exploracoder-error">
        {said.join('\n')}
      </div>
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
  isFaulty: boolean;
  onRemove: () => void;
  tools: ITools;
}): React.ReactElement {
  const { event, isFaulty, name, onRemove, tools } = props;
  const isIndexing = event !== undefined && !event.is_done;
  return (
    <li className="jp-exploracoder-chip">
      <span title={event?.error || event?.message}>{name}</span>
      {isFaulty && <span className="jp-exploracoder-note">{tools.trans.__('✗ not found')}</span>}
      {isIndexing && <span className="jp-exploracoder-note">{event.message}</span>}
      <IconAction label={tools.trans.__('Remove %1', name)} icon={closeIcon} onClick={onRemove} />
    </li>
  );
}

/** A library's event; a folder is named relative to the server's root, or in full. */
export function eventOf(
  indexing: ReadonlyMap<string, LibraryEvent>,
  name: string
): LibraryEvent | undefined {
  const end = name.startsWith('./') ? name.slice(1) : null;
  const targets = Array.from(indexing.keys());
  const target = targets.find(one => one === name || (end && one.endsWith(end)));
  return target === undefined ? undefined : indexing.get(target);
}
