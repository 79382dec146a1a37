import * as React from 'react';
import { Candidate, Exploration, Step } from '../protocol';
import { IExplorationModel } from '../tokens';
import { numberOf } from '../wording';
import { Candidates } from './candidates';
import { RetrievedDocs } from './retrieveddocs';
import { ITools } from './tools';

const NONE: ReadonlyArray<string> = [];

/** One subtask: what was tried, and the docs that were found. */
export function StepDetails(props: {
  model: IExplorationModel;
  exploration: Exploration;
  step: Step;
  tools: ITools;
}): React.ReactElement {
  const { exploration, model, step, tools } = props;
  const { trans } = tools;
  // The user's pick stays in view until there is another proposal.
  const [picked, setPicked] = React.useState<string | null>(null);
  React.useEffect(() => setPicked(null), [step.subtask.id, step.chosen]);
  const selected = selectedIn(step, picked);
  const subtask = step.subtask.id;
  const select = React.useCallback(
    (candidate: string) => {
      setPicked(candidate);
      // Show the same candidate in the subtask's cell.
      tools.execute('exploracoder:show-candidate', { id: model.id, subtask, candidate });
    },
    [model, subtask, tools]
  );
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
      <Candidates
        model={model}
        step={step}
        selected={selected}
        documented={documented}
        onSelect={select}
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
