import { checkIcon, bugIcon, undoIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Candidate, Exploration, Progress, Step } from '../protocol';
import { IExplorationModel } from '../tokens';
import { allows } from '../abilities';
import { numberOf } from '../wording';
import { Action } from './action';
import { Candidates } from './candidates';
import { RetrievedDocs } from './retrieveddocs';
import { ITools } from './tools';

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
        used={selected?.apis ?? []}
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

function StepActions(props: {
  model: IExplorationModel;
  exploration: Exploration;
  step: Step;
  progress: Progress;
  selected: Candidate | null;
  tools: ITools;
}): React.ReactElement {
  const { exploration, model, progress, selected, step, tools } = props;
  const { trans } = tools;
  const situation = { exploration, progress, isOpen: model.isOpen };
  const can = (action: 'accept' | 'debug' | 'draft' | 'go-back' | 'skip') =>
    allows(situation, action, step.subtask.id, selected?.id ?? null);
  const run = (command: string) => {
    const args = { id: model.id, subtask: step.subtask.id };
    const candidate = selected?.id;
    tools.execute(`exploracoder:${command}`, candidate ? { ...args, candidate } : args);
  };
  return (
    <div className="jp-exploracoder-actions">
      <Action
        label={trans.__('Accept')}
        icon={checkIcon}
        isPrimary={step.status === 'review'}
        isDisabled={!can('accept')}
        onClick={() => run('accept')}
      />
      <Action
        label={trans.__('Debug')}
        icon={bugIcon}
        isDisabled={!can('debug')}
        onClick={() => run('debug')}
      />
      <Action
        label={trans.__('Other candidates')}
        isDisabled={!can('draft')}
        onClick={() => run('other-candidates')}
      />
      <Action
        label={trans.__('Go back here')}
        icon={undoIcon}
        isDisabled={!can('go-back')}
        onClick={() => run('go-back')}
      />
      <Action label={trans.__('Skip')} isDisabled={!can('skip')} onClick={() => run('skip')} />
    </div>
  );
}
