import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { IPlace } from '../draft';
import { IKernelVariable } from '../variables';
import { Action, IconAction } from './action';
import { Section } from './section';
import { ITools } from './tools';

/** Which cells of the user's notebook run first, and which variables of its kernel come along. */
export function ContextPicker(props: {
  place: IPlace | null;
  cells: ReadonlyArray<string>;
  bring: ReadonlyArray<string>;
  onCells: (cells: string[]) => void;
  onBring: (names: string[]) => void;
  loadVariables: () => Promise<IKernelVariable[] | null>;
  tools: ITools;
}): React.ReactElement {
  const { bring, cells, onCells, place, tools } = props;
  const { trans } = tools;
  const count = cells.length + bring.length;
  return (
    <>
      <Taken {...props} />
      <Section
        title={trans.__('Context')}
        note={count ? trans.__('%1 selected', count) : undefined}
        isOpen={false}
      >
        {place ? (
          <>
            <Choices
              legend={trans.__('Cells that run first')}
              empty={trans.__('The notebook has no code yet.')}
              choices={place.cells.map(({ id, source }) => ({
                value: id,
                text: firstLine(source)
              }))}
              picked={cells}
              onPick={onCells}
              tools={tools}
            />
            <Variables {...props} />
          </>
        ) : (
          <p className="jp-exploracoder-empty">
            {trans.__('Open a notebook to start from its cells or its variables.')}
          </p>
        )}
      </Section>
    </>
  );
}

/** What comes along, at a glance: variables as copies, cells by their first line. */
function Taken(props: {
  place: IPlace | null;
  cells: ReadonlyArray<string>;
  bring: ReadonlyArray<string>;
  onCells: (cells: string[]) => void;
  onBring: (names: string[]) => void;
  tools: ITools;
}): React.ReactElement | null {
  const { bring, cells, onBring, onCells, place, tools } = props;
  const { trans } = tools;
  const shown = place?.cells.filter(({ id }) => cells.includes(id)) ?? [];
  if (!bring.length && !shown.length) {
    return null;
  }
  return (
    <div role="group" aria-label={trans.__('Comes along')}>
      <div className="jp-exploracoder-label">{trans.__('Comes along')}</div>
      <ul className="jp-exploracoder-chips">
        {bring.map(name => (
          <Chip
            key={name}
            text={name}
            title={trans.__('A copy of this variable')}
            onRemove={() => onBring(bring.filter(one => one !== name))}
            tools={tools}
          />
        ))}
        {shown.map(({ id, source }) => (
          <Chip
            key={id}
            text={firstLine(source)}
            title={source}
            onRemove={() => onCells(cells.filter(one => one !== id))}
            tools={tools}
          />
        ))}
      </ul>
    </div>
  );
}

function Chip(props: {
  text: string;
  title: string;
  onRemove: () => void;
  tools: ITools;
}): React.ReactElement {
  const { onRemove, text, title, tools } = props;
  return (
    <li className="jp-exploracoder-chip">
      <code title={title}>{text}</code>
      <IconAction
        label={tools.trans.__('Leave out %1', text)}
        icon={closeIcon}
        onClick={onRemove}
      />
    </li>
  );
}

function Variables(props: {
  place: IPlace | null;
  bring: ReadonlyArray<string>;
  onBring: (names: string[]) => void;
  loadVariables: () => Promise<IKernelVariable[] | null>;
  tools: ITools;
}): React.ReactElement {
  const { bring, loadVariables, onBring, place, tools } = props;
  const { trans } = tools;
  const [variables, setVariables] = React.useState<IKernelVariable[] | null>(null);
  const [problem, setProblem] = React.useState('');
  const kernel = place?.kernelId ?? null;
  const asked = React.useRef<string | null>(null);
  React.useEffect(() => {
    asked.current = null;
    setVariables(null);
    setProblem('');
  }, [kernel]);
  const load = async () => {
    asked.current = kernel;
    let found: IKernelVariable[] | null = null;
    let reason = '';
    try {
      found = await loadVariables();
      reason = found ? '' : trans.__('The kernel is busy. Try again when it is done.');
    } catch (error) {
      reason = error instanceof Error ? error.message : `${error}`;
    }
    // The user may have switched to another notebook.
    if (asked.current === kernel) {
      setVariables(known => found ?? known);
      setProblem(reason);
    }
  };
  return (
    <>
      {variables && (
        <Choices
          legend={trans.__('Variables to copy')}
          empty={trans.__('The kernel has no variables.')}
          choices={variables.map(({ name, type }) => ({ value: name, text: `${name}: ${type}` }))}
          picked={bring}
          onPick={onBring}
          tools={tools}
        />
      )}
      <Action
        label={
          variables ? trans.__('Look for variables again') : trans.__('Choose variables to bring…')
        }
        isDisabled={!kernel}
        title={trans.__('They are copied; your kernel keeps its own')}
        onClick={() => void load()}
      />
      <p role="status" className="jp-exploracoder-note">
        {problem}
      </p>
    </>
  );
}

function Choices(props: {
  legend: string;
  empty: string;
  choices: ReadonlyArray<{ value: string; text: string }>;
  picked: ReadonlyArray<string>;
  onPick: (values: string[]) => void;
  tools: ITools;
}): React.ReactElement {
  const { choices, empty, legend, onPick, picked, tools } = props;
  const { trans } = tools;
  const isAll = choices.every(({ value }) => picked.includes(value));
  const toggle = (value: string) =>
    onPick(picked.includes(value) ? picked.filter(one => one !== value) : [...picked, value]);
  return (
    <fieldset className="jp-exploracoder-choices">
      <legend>{legend}</legend>
      {choices.map(({ text, value }) => (
        <label key={value} className="jp-exploracoder-choice">
          <input type="checkbox" checked={picked.includes(value)} onChange={() => toggle(value)} />
          <code>{text}</code>
        </label>
      ))}
      {choices.length > 1 ? (
        <Action
          label={isAll ? trans.__('None of them') : trans.__('All of them')}
          onClick={() => onPick(isAll ? [] : choices.map(({ value }) => value))}
        />
      ) : (
        choices.length === 0 && <p className="jp-exploracoder-empty">{empty}</p>
      )}
    </fieldset>
  );
}

function firstLine(source: string): string {
  const [first, ...rest] = source.trim().split('\n');
  return rest.length ? `${first} …` : first;
}
