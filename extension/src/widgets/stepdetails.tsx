import { bugIcon, checkIcon, LabIcon, undoIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Candidate, Exploration, Progress, Step } from '../protocol';
import { IExplorationModel } from '../tokens';
import { allows } from '../abilities';
import { numberOf } from '../wording';
import { Action } from './action';
import { Candidates } from './candidates';
import { RetrievedDocs } from './retrieveddocs';
import { ITools } from './tools';

const NONE: ReadonlyArray<string> = [];

/** One subtask: what can be done about it, what was tried, and the docs that were found. */
export function StepDetails(props: {
  model: IExplorationModel;
  exploration: Exploration;
  step: Step;
  progress: Progress;
  tools: ITools;
}): React.ReactElement {
  const { exploration, step, tools } = props;
  const { trans } = tools;
  // What the user looks at stays in view until there is another proposal.
  const [picked, setPicked] = React.useState<string | null>(null);
  React.useEffect(() => setPicked(null), [step.subtask.id, step.chosen]);
  const selected = selectedIn(step, picked);
  const documented = React.useMemo(
    () => documentedIn(exploration, step),
    [exploration.overall, step.recommendation]
  );
  return (
    <section
      className="jp-exploracoder-step"
      aria-label={trans.__('Subtask %1', numberOf(exploration, step))}
    >
      <h3>{`${numberOf(exploration, step)}. ${step.subtask.goal}`}</h3>
      <StepActions {...props} selected={selected} />
      <Candidates
        step={step}
        selected={selected}
        documented={documented}
        onSelect={setPicked}
        tools={tools}
      />
      <RetrievedDocs
        recommendation={step.recommendation}
        used={selected?.apis ?? NONE}
        tools={tools}
      />
    </section>
  );
}

function selectedIn(step: Step, picked: string | null): Candidate | null {
  const { candidates, chosen } = step;
  const find = (id: string | null) => candidates.find(one => one.id === id);
  return find(picked) ?? find(chosen) ?? candidates[candidates.length - 1] ?? null;
}

function documentedIn(exploration: Exploration, step: Step): ReadonlySet<string> {
  const apis = [...exploration.overall.apis, ...step.recommendation.apis];
  return new Set(apis.map(api => api.doc.path));
}

interface IStepActionsProps {
  model: IExplorationModel;
  exploration: Exploration;
  step: Step;
  progress: Progress;
  selected: Candidate | null;
  tools: ITools;
}

type StepAction = 'accept' | 'debug' | 'draft' | 'go-back' | 'skip';

function StepActions(props: IStepActionsProps): React.ReactElement {
  const { exploration, model, progress, selected, step, tools } = props;
  const { trans } = tools;
  const [hint, setHint] = React.useState('');
  const situation = { exploration, progress, isOpen: model.isOpen };
  const buttons: [StepAction, string, LabIcon?][] = [
    ['accept', trans.__('Accept'), checkIcon],
    ['debug', trans.__('Debug'), bugIcon],
    ['draft', trans.__('Other candidates')],
    ['go-back', trans.__('Go back here'), undoIcon],
    ['skip', trans.__('Skip')]
  ];
  return (
    <>
      <div className="jp-exploracoder-actions">
        {buttons.map(([action, label, icon]) => (
          <Action
            key={action}
            label={label}
            icon={icon}
            isPrimary={action === 'accept' && step.status === 'review'}
            isDisabled={!allows(situation, action, step.subtask.id, selected?.id ?? null)}
            onClick={() => {
              run(props, action, hint.trim());
              setHint('');
            }}
          />
        ))}
      </div>
      <input
        className="jp-mod-styled"
        aria-label={trans.__('Hint')}
        placeholder={trans.__('A hint for Debug and Other candidates (optional)')}
        value={hint}
        maxLength={2000}
        onChange={event => setHint(event.target.value)}
      />
    </>
  );
}

function run(props: IStepActionsProps, action: StepAction, hint: string): void {
  const { model, selected, step, tools } = props;
  const subtask = step.subtask.id;
  const candidate = selected?.id;
  if (action === 'debug' && hint) {
    tools.send(model, { kind: 'debug', subtask, candidate, hint });
  } else if (action === 'draft' && hint) {
    tools.send(model, { kind: 'draft', subtask, hint });
  } else {
    const name = action === 'draft' ? 'other-candidates' : action;
    const about = { id: model.id, subtask };
    tools.execute(`exploracoder:${name}`, candidate ? { ...about, candidate } : about);
  }
}
