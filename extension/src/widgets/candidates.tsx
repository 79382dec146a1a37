import * as React from 'react';
import { doneIcon, failedIcon, openIcon } from '../icons';
import { Candidate, Step } from '../protocol';
import { runWords } from '../wording';
import { CandidatePanel } from './candidatepanel';
import { ITools } from './tools';

/** What was tried for a subtask: a tab for each, moved through by the arrow keys. */
export const Candidates = React.memo(
  (props: {
    step: Step;
    selected: Candidate | null;
    /** The import paths whose docs are known. */
    documented: ReadonlySet<string>;
    onSelect: (candidate: string) => void;
    tools: ITools;
  }): React.ReactElement => {
    const { documented, onSelect, selected, step, tools } = props;
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
            <Tab
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

function Tab(props: {
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
  const words = runWords(trans, candidate.observation);
  const chosen = isChosen ? `, ${trans.__('proposed')}` : '';
  const status = candidate.observation?.status;
  const icon = !status ? openIcon : status === 'ok' ? doneIcon : failedIcon;
  return (
    <button
      type="button"
      role="tab"
      id={`${panel}-${candidate.id}`}
      aria-selected={isSelected}
      aria-controls={panel}
      aria-label={`${trans.__('Candidate %1', number)}: ${words}${chosen}`}
      tabIndex={isSelected ? 0 : -1}
      data-candidate={candidate.id}
      onClick={() => onSelect(candidate.id)}
    >
      <icon.react tag="span" aria-hidden="true" />
      {number}
      {isChosen && <span aria-hidden="true">★</span>}
    </button>
  );
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
