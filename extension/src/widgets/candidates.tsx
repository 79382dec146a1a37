import * as React from 'react';
import { doneIcon, failedIcon, openIcon } from '../icons';
import { Candidate, Observation, Step } from '../protocol';
import { IExplorationModel } from '../tokens';
import { runWords } from '../wording';
import { CandidatePanel } from './candidatepanel';
import { ITools } from './tools';

const HEAD_LINES = 3;
const HEAD_CHARS = 200;
// The signature of a PNG in base64.
const PNG_HEAD = 'iVBORw0KGgo';

/** What was tried for a subtask: one card each, navigated with the arrow keys. */
export const Candidates = React.memo(
  (props: {
    model: IExplorationModel;
    step: Step;
    selected: Candidate | null;
    /** The import paths whose docs are known. */
    documented: ReadonlySet<string>;
    onSelect: (candidate: string) => void;
    tools: ITools;
  }): React.ReactElement => {
    const { documented, model, onSelect, selected, step, tools } = props;
    const { trans } = tools;
    const { candidates } = step;
    const id = `jp-exploracoder-candidate-${step.subtask.id}`;
    if (!selected) {
      return (
        <p className="jp-exploracoder-empty">
          {trans.__(
            'Nothing has been tried for this subtask yet. Each candidate runs in its own branch, so none can change your variables.'
          )}
        </p>
      );
    }
    return (
      <div className="jp-exploracoder-candidates">
        <div
          role="tablist"
          aria-label={trans.__('Candidates')}
          onKeyDown={event => moveAmongTabs(event, candidates, onSelect)}
        >
          {candidates.map((candidate, index) => (
            <Card
              key={candidate.id}
              candidate={candidate}
              number={index + 1}
              isSelected={candidate === selected}
              isChosen={candidate.id === step.chosen}
              panel={id}
              onSelect={onSelect}
              tools={tools}
            />
          ))}
        </div>
        <div role="tabpanel" id={id} aria-labelledby={`${id}-${selected.id}`} tabIndex={0}>
          <CandidatePanel
            key={selected.id}
            model={model}
            subtask={step.subtask.id}
            candidate={selected}
            others={candidates}
            documented={documented}
            tools={tools}
          />
        </div>
      </div>
    );
  }
);

/** A candidate at a glance; its panel shows all of it. */
function Card(props: {
  candidate: Candidate;
  number: number;
  isSelected: boolean;
  isChosen: boolean;
  panel: string;
  onSelect: (candidate: string) => void;
  tools: ITools;
}): React.ReactElement {
  const { candidate, isChosen, isSelected, number, onSelect, panel } = props;
  const { trans } = props.tools;
  const { code, observation } = candidate;
  const words = runWords(trans, observation);
  const chosen = isChosen ? `, ${trans.__('proposed')}` : '';
  const status = observation?.status;
  const icon = !status ? openIcon : status === 'ok' ? doneIcon : failedIcon;
  const plot = plotOf(observation);
  return (
    <button
      type="button"
      role="tab"
      className="jp-exploracoder-candidate-card"
      id={`${panel}-${candidate.id}`}
      aria-selected={isSelected}
      aria-current={isChosen ? 'true' : undefined}
      aria-controls={panel}
      aria-label={`${trans.__('Candidate %1', number)}: ${words}${chosen}`}
      tabIndex={isSelected ? 0 : -1}
      data-candidate={candidate.id}
      onClick={() => onSelect(candidate.id)}
    >
      <span>
        <icon.react tag="span" aria-hidden="true" />
        {`${number}. ${words}`}
        {isChosen && <span aria-hidden="true"> ★</span>}
      </span>
      <code>{head(code)}</code>
      {observation && <samp>{head(outputText(observation))}</samp>}
      {plot && <img src={plot} alt="" />}
    </button>
  );
}

function head(text: string): string {
  return text.trim().split('\n', HEAD_LINES).join('\n').slice(0, HEAD_CHARS);
}

function outputText({ error, result, stdout }: Observation): string {
  return error ? `${error.ename}: ${error.evalue}` : stdout.trim() || (result ?? '');
}

/** The first picture in a run's outputs, as a data URL; only PNG counts. */
function plotOf(observation: Observation | null): string | null {
  for (const output of observation?.outputs ?? []) {
    const data = (output as { data?: { [type: string]: unknown } }).data?.['image/png'];
    const text = (Array.isArray(data) ? data.join('') : `${data ?? ''}`).replace(/\s/g, '');
    if (text.startsWith(PNG_HEAD) && /^[A-Za-z0-9+/]+=*$/.test(text)) {
      return `data:image/png;base64,${text}`;
    }
  }
  return null;
}

function moveAmongTabs(
  event: React.KeyboardEvent<HTMLElement>,
  candidates: Candidate[],
  onSelect: (candidate: string) => void
): void {
  const tabs = Array.from(event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]'));
  const last = tabs.length - 1;
  const here = tabs.indexOf(event.target as HTMLElement);
  const places: { [key: string]: number } = {
    ArrowRight: here === last ? 0 : here + 1,
    ArrowLeft: here === 0 ? last : here - 1,
    Home: 0,
    End: last
  };
  const place = places[event.key];
  if (place !== undefined) {
    event.preventDefault();
    tabs[place].focus();
    onSelect(candidates[place].id);
  }
}
