import { runIcon, UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';
import { nextOpen } from '../wording';
import { Exploration, LibraryEvent, Progress } from '../protocol';
import { IExplorationModel, ILookups } from '../tokens';
import { IPrices } from '../wording';
import { Action } from './action';
import { LookUp } from './lookup';
import { Plan } from './plan';
import { Section } from './section';
import { SolutionPart } from './solution';
import { StatusRegion } from './statusregion';
import { StepDetails } from './stepdetails';
import { ITools } from './tools';
import { UsagePart } from './usage';

interface IExplorationViewProps {
  model: IExplorationModel;
  prices: IPrices | null;
  lookups: ILookups;
  indexing: ReadonlyMap<string, LibraryEvent>;
  exportUrl: (format: 'py' | 'md' | 'ipynb') => string;
  tools: ITools;
}

/** One exploration: its status, its plan, the selected subtask, and the solution. */
export function ExplorationView(props: IExplorationViewProps): React.ReactElement {
  return (
    <UseSignal signal={props.model.changed}>
      {() => (
        <Body {...props} exploration={props.model.exploration} progress={props.model.progress} />
      )}
    </UseSignal>
  );
}

function Body(
  props: IExplorationViewProps & { exploration: Exploration; progress: Progress }
): React.ReactElement {
  const { exploration, exportUrl, model, prices, progress, tools } = props;
  const { trans } = tools;
  const [picked, setPicked] = React.useState<string | null>(null);
  const followed = followedSubtask(exploration, progress);
  // The view follows the work until the user selects something else, and again with the next step
  // and whenever it is the user's turn.
  React.useEffect(() => setPicked(null), [followed, progress.activity]);
  const find = (subtask: string | null) =>
    exploration.steps.find(one => one.subtask.id === subtask) ?? null;
  // What was picked may have been deleted since.
  const step = find(picked) ?? find(followed);
  const selected = step?.subtask.id ?? null;
  const done = exploration.steps.filter(one => one.status === 'done').length;
  return (
    <>
      <p className="jp-exploracoder-about">{exploration.task.text}</p>
      {model.isOpen ? <StatusRegion {...props} /> : <Ended model={model} tools={tools} />}
      <Section
        title={trans.__('Plan')}
        note={exploration.steps.length ? `${done}/${exploration.steps.length}` : undefined}
      >
        <Plan {...props} selected={selected} onSelect={setPicked} />
      </Section>
      {step && <StepDetails {...props} step={step} />}
      <SolutionPart {...props} exportUrl={exportUrl} />
      {model.isOpen && (
        <LookUp
          lookups={props.lookups}
          scope={{ id: model.id }}
          libraries={exploration.task.libraries}
          indexing={props.indexing}
          tools={tools}
        />
      )}
      <UsagePart exploration={exploration} prices={prices} trans={trans} />
    </>
  );
}

/** Its session is gone: the server was restarted, or it was closed elsewhere. */
function Ended(props: { model: IExplorationModel; tools: ITools }): React.ReactElement {
  const { model, tools } = props;
  const { trans } = tools;
  return (
    <div role="alert" className="jp-exploracoder-warning">
      <p>
        {trans.__(
          'This exploration is no longer open on the server. Its notebook keeps what was accepted, and you can continue from there.'
        )}
      </p>
      <Action
        label={trans.__('Resume')}
        icon={runIcon}
        isPrimary
        onClick={() => tools.execute('exploracoder:resume', { path: model.path })}
      />
    </div>
  );
}

/** The subtask being worked on, or waiting for the user. */
function followedSubtask(exploration: Exploration, progress: Progress): string | null {
  const { steps } = exploration;
  // Then the solution matters, which is shown below.
  if (progress.part === 'solution' && exploration.solution) {
    return null;
  }
  const atWork = steps.find(step => step.subtask.id === progress.part);
  const last = steps[steps.length - 1];
  return (atWork ?? nextOpen(exploration) ?? last)?.subtask.id ?? null;
}
