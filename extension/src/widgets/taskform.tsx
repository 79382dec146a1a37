import { runIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Draft, IPlace } from '../draft';
import { ModelChoices } from '../modelchoice';
import { InstalledLibrary, LibraryEvent, ServerStatus } from '../protocol';
import { ILookups } from '../tokens';
import { IKernelVariable } from '../variables';
import { Action } from './action';
import { ContextPicker } from './contextpicker';
import { FirstModel } from './firstmodel';
import { LibraryPicker } from './libraries';
import { LookUp } from './lookup';
import { ModelChip } from './modelchip';
import { Section } from './section';
import { TaskBox } from './taskbox';
import { ITools } from './tools';

/** What the form needs. */
export interface ITaskFormProps {
  draft: Draft;
  place: IPlace | null;
  status: ServerStatus | null;
  indexing: ReadonlyMap<string, LibraryEvent>;
  lookups: ILookups;
  models: ModelChoices;
  /** Start it; rejects with the reason in words. */
  onExplore: () => Promise<void>;
  indexLibrary: (name: string) => Promise<void>;
  loadLibraries: () => Promise<InstalledLibrary[]>;
  /** The kernel's variables; null while it is busy. */
  loadVariables: () => Promise<IKernelVariable[] | null>;
  pickFolder: () => Promise<string | null>;
  tools: ITools;
}

/** Asks for the task, the libraries and the state to start from, then starts exploring. */
export function TaskForm(props: ITaskFormProps): React.ReactElement {
  const { draft, lookups, models, place, status, tools } = props;
  const { trans } = tools;
  const value = draft.value;
  const [isChoosing, setChoosing] = React.useState(false);
  const { error, explore, isStarting } = useStart(props);
  const start = useHeldFocus();
  const kernel = place?.kernelName ?? '';
  const { askLibraries, installed, problem } = useInstalled(kernel, props.loadLibraries);
  return (
    <form
      className="jp-exploracoder-form"
      onSubmit={event => {
        event.preventDefault();
        explore();
      }}
    >
      <div className="jp-exploracoder-label" aria-hidden="true">
        {trans.__('Task')}
      </div>
      <TaskBox
        text={value.task}
        history={draft.history}
        onChange={task => draft.update({ task })}
        onSubmit={explore}
        trans={trans}
      />
      <p id="jp-exploracoder-task-help" className="jp-exploracoder-note">
        {draft.history.length
          ? trans.__('↑ and ↓ bring back earlier tasks; Ctrl+Enter explores.')
          : trans.__(
              'Name a library that no model knows: your own, a new one, a new version. ExploraCoder reads its docs, tries each step in a scratch kernel, and shows you all of it.'
            )}
      </p>
      <LibraryPicker
        libraries={value.libraries}
        installed={installed}
        problem={problem}
        indexing={props.indexing}
        onChange={libraries => draft.update({ libraries })}
        index={props.indexLibrary}
        onAsk={askLibraries}
        pickFolder={props.pickFolder}
        tools={tools}
      />
      <ContextPicker
        place={place}
        cells={value.cells}
        bring={value.bring}
        onCells={cells => draft.update({ cells })}
        onBring={bring => draft.update({ bring })}
        loadVariables={props.loadVariables}
        tools={tools}
      />
      <CheckBox draft={draft} tools={tools} />
      {(value.libraries.length > 0 || lookups.isOpen) && (
        <LookUp
          lookups={lookups}
          scope={{ libraries: value.libraries, kernelName: kernel || null }}
          libraries={value.libraries}
          indexing={props.indexing}
          tools={tools}
        />
      )}
      <ModeChoice draft={draft} tools={tools} />
      <div role="alert" className="jp-exploracoder-error">
        {error}
      </div>
      {status && (
        <ModelChip
          models={models}
          status={status}
          isOpen={isChoosing}
          onToggle={setChoosing}
          tools={tools}
        />
      )}
      <div ref={start}>
        {status && models.isMissing ? (
          <FirstModel
            models={models}
            status={status}
            onMore={() => setChoosing(true)}
            tools={tools}
          />
        ) : (
          <Action
            label={isStarting ? trans.__('Starting…') : trans.__('Explore')}
            icon={runIcon}
            isPrimary
            isDisabled={isStarting}
            onClick={explore}
          />
        )}
      </div>
      <p role="status" className="jp-exploracoder-note">
        {models.hasArrived ? trans.__('The embedded model is on this disk now.') : ''}
      </p>
    </form>
  );
}

/** What is installed in a kernel's Python, asked for once, and again if that failed. */
function useInstalled(kernel: string, load: () => Promise<InstalledLibrary[]>) {
  const [installed, setInstalled] = React.useState<InstalledLibrary[]>([]);
  const [problem, setProblem] = React.useState('');
  const asked = React.useRef<string | null>(null);
  const askLibraries = async () => {
    if (asked.current === kernel) {
      return;
    }
    asked.current = kernel;
    setProblem('');
    let found: InstalledLibrary[] = [];
    let reason = '';
    try {
      found = await load();
    } catch (error) {
      reason = error instanceof Error ? error.message : `${error}`;
    }
    // The user may have switched to a notebook with another kernel.
    if (asked.current === kernel) {
      setInstalled(found);
      setProblem(reason);
      asked.current = reason ? null : kernel;
    }
  };
  return { askLibraries: () => void askLibraries(), installed, problem };
}

/** An element that keeps the focus inside when the focused child is replaced. */
function useHeldFocus(): React.RefObject<HTMLDivElement> {
  const place = React.useRef<HTMLDivElement>(null);
  const had = place.current?.contains(document.activeElement) ?? false;
  React.useLayoutEffect(() => {
    if (had && document.activeElement === document.body) {
      place.current?.querySelector('button')?.focus();
    }
  });
  return place;
}

/** Starts exploring, or reports first what is missing. */
function useStart(props: ITaskFormProps) {
  const { draft, models, onExplore, tools } = props;
  const { trans } = tools;
  const [error, setError] = React.useState('');
  const [isStarting, setStarting] = React.useState(false);
  const start = async () => {
    const { libraries, task } = draft.value;
    if (!task.trim()) {
      setError(trans.__('Say first what the code should do.'));
      return;
    }
    if (!libraries.length) {
      setError(trans.__('Name at least one library to explore.'));
      return;
    }
    if (models.isMissing) {
      setError(trans.__('Choose a model first.'));
      return;
    }
    setStarting(true);
    setError('');
    try {
      await onExplore();
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : `${reason}`);
    }
    setStarting(false);
  };
  const explore = () => {
    if (!isStarting) {
      void start();
    }
  };
  return { error, explore, isStarting };
}

function CheckBox(props: { draft: Draft; tools: ITools }): React.ReactElement {
  const { draft, tools } = props;
  const { trans } = tools;
  return (
    <Section
      title={trans.__('Check')}
      note={draft.value.check.trim() ? trans.__('given') : trans.__('none')}
      isOpen={false}
    >
      <textarea
        className="jp-mod-styled jp-exploracoder-check"
        aria-label={trans.__('Check')}
        placeholder={trans.__('assert result == 42')}
        rows={3}
        spellCheck={false}
        maxLength={100_000}
        value={draft.value.check}
        onChange={event => draft.update({ check: event.target.value })}
      />
      <p className="jp-exploracoder-note">
        {trans.__('Code that runs after the solution and raises when it is wrong.')}
      </p>
    </Section>
  );
}

function ModeChoice(props: { draft: Draft; tools: ITools }): React.ReactElement {
  const { draft, tools } = props;
  return (
    <label className="jp-exploracoder-choice">
      <input
        type="checkbox"
        checked={draft.value.mode === 'review'}
        onChange={event => draft.update({ mode: event.target.checked ? 'review' : 'auto' })}
      />
      {tools.trans.__('Review each step')}
    </label>
  );
}
