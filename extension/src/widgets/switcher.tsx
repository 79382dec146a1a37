import { Time } from '@jupyterlab/coreutils';
import { LabIcon, notebookIcon, refreshIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { isComposing } from '../composing';
import { EntryState, entriesOf, entryWords, IEntry, matching } from '../entries';
import { doneIcon, failedIcon, openIcon, turnIcon, workingIcon } from '../icons';
import { IExplorations } from '../tokens';
import { IconAction } from './action';
import { ITools } from './tools';

/** With this many entries, a search field appears. */
const SEARCHED_FROM = 6;
/** More are found by searching. */
const MOST_SHOWN = 50;

const ICONS: Record<EntryState, LabIcon> = {
  turn: turnIcon,
  working: workingIcon,
  solved: doneIcon,
  failed: failedIcon,
  resting: openIcon,
  saved: notebookIcon
};

interface ISwitcherProps {
  explorations: IExplorations;
  onShow: (id: string) => void;
  tools: ITools;
}

/**
 * All explorations, open and saved. The arrow keys move between them, Enter opens one, and a slash
 * goes to the search field.
 */
export function Switcher(props: ISwitcherProps): React.ReactElement {
  const { explorations, tools } = props;
  const { trans } = tools;
  const [query, setQuery] = React.useState('');
  const root = React.useRef<HTMLDivElement>(null);
  useChanges(explorations);
  useSlash(root);
  const all = entriesOf(explorations.past, explorations.open);
  const found = matching(all, query);
  if (!all.length) {
    return (
      <p className="jp-exploracoder-empty">
        {trans.__(
          'Each exploration is kept as a notebook beside yours. Find it here to continue it or to run it again.'
        )}
      </p>
    );
  }
  return (
    <div ref={root} onKeyDown={event => root.current && step(event, root.current)}>
      {all.length >= SEARCHED_FROM && (
        <input
          type="search"
          className="jp-mod-styled"
          aria-label={trans.__('Search explorations')}
          placeholder={trans.__('Task or library')}
          value={query}
          onChange={event => setQuery(event.target.value)}
        />
      )}
      <ul className="jp-exploracoder-entries" aria-label={trans.__('Explorations')}>
        {found.slice(0, MOST_SHOWN).map(entry => (
          <Entry key={entry.summary.id} {...props} entry={entry} />
        ))}
      </ul>
      <p role="status" className="jp-exploracoder-note">
        {!found.length
          ? trans.__('No exploration has these words.')
          : found.length > MOST_SHOWN &&
            trans.__('%1 more: search for them', found.length - MOST_SHOWN)}
      </p>
    </div>
  );
}

function Entry(props: ISwitcherProps & { entry: IEntry }): React.ReactElement {
  const { explorations, onShow, tools } = props;
  const { trans } = tools;
  const { done, state, steps, summary } = props.entry;
  const { created, id, libraries, path, task } = summary;
  const isCurrent = explorations.current?.id === id;
  const isOpen = explorations.open.has(id);
  const icon = ICONS[state];
  return (
    <li data-state={state} aria-current={isCurrent || undefined}>
      <button
        type="button"
        className="jp-exploracoder-entry"
        aria-label={isOpen ? trans.__('Show: %1', task) : trans.__('Resume: %1', task)}
        aria-describedby={`exploracoder-entry-${id}`}
        title={path}
        onClick={() => (isOpen ? onShow(id) : tools.execute('exploracoder:resume', { path }))}
      >
        <icon.react tag="span" aria-hidden="true" />
        <span>
          <span className="jp-exploracoder-entry-task">{task}</span>
          <span className="jp-exploracoder-note" id={`exploracoder-entry-${id}`}>
            {[
              entryWords(trans, state),
              libraries.map(nameOf).join(', '),
              trans.__('%1 of %2 subtasks', done, steps),
              Time.formatHuman(new Date(created))
            ]
              .filter(Boolean)
              .join(' · ')}
          </span>
        </span>
      </button>
      <IconAction
        label={trans.__('Replay: rerun its accepted cells without a model')}
        icon={refreshIcon}
        onClick={() => tools.execute('exploracoder:replay', { path })}
      />
    </li>
  );
}

/** A library that is a folder goes by the folder's name. */
function nameOf(library: string): string {
  return library.split('/').pop() || library;
}

/** Redraw when an open exploration changes. */
function useChanges(explorations: IExplorations): void {
  const [, setCount] = React.useState(0);
  const ids = Array.from(explorations.open.keys()).join();
  React.useEffect(() => {
    const models = Array.from(explorations.open.values());
    const draw = () => setCount(count => count + 1);
    models.forEach(model => model.changed.connect(draw));
    return () => models.forEach(model => model.changed.disconnect(draw));
  }, [explorations, ids]);
}

/** A slash anywhere in the sidebar focuses the search, except while typing. */
function useSlash(root: React.RefObject<HTMLElement>): void {
  React.useEffect(() => {
    const sidebar = root.current?.closest<HTMLElement>('.jp-exploracoder-sidebar');
    const onKey = (event: KeyboardEvent) => {
      const isWriting = (event.target as HTMLElement).matches('input, textarea, select');
      const field = root.current?.querySelector<HTMLElement>('[type="search"]');
      if (event.key === '/' && field && !isWriting) {
        event.preventDefault();
        field.focus();
      }
    };
    sidebar?.addEventListener('keydown', onKey);
    return () => sidebar?.removeEventListener('keydown', onKey);
  });
}

/** The arrow keys go through the field and the entries. */
function step(event: React.KeyboardEvent, root: HTMLElement): void {
  if (isComposing(event)) {
    return;
  }
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const stops = Array.from(
    root.querySelectorAll<HTMLElement>('[type="search"], .jp-exploracoder-entry')
  );
  const here = stops.indexOf(event.target as HTMLElement);
  if (by && here >= 0) {
    event.preventDefault();
    stops[here + by]?.focus();
  } else if (event.key === 'Enter' && (event.target as HTMLElement).matches('input')) {
    event.preventDefault();
    root.querySelector<HTMLElement>('.jp-exploracoder-entry')?.click();
  }
}
