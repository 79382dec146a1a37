import { addIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Ability } from '../actions';
import { Exploration, Progress, Step } from '../protocol';
import { IExplorationModel } from '../tokens';
import { Action } from './action';
import { useDragging } from './dragging';
import { PlanItem } from './planitem';
import { ITools } from './tools';

const NONE: readonly Ability[] = [];

/** The plan as an editable list; open subtasks can be reordered. */
export function Plan(props: {
  model: IExplorationModel;
  exploration: Exploration;
  progress: Progress;
  selected: string | null;
  onSelect: (subtask: string) => void;
  tools: ITools;
}): React.ReactElement {
  const { exploration, model, onSelect, progress, selected, tools } = props;
  const { trans } = tools;
  const { steps } = exploration;
  const list = React.useRef<HTMLOListElement>(null);
  const moved = React.useRef<string | null>(null);
  const order = steps.map(step => step.subtask.id).join();
  // A moved element loses the focus, which keyboard users need.
  React.useLayoutEffect(() => {
    const place = steps.findIndex(step => step.subtask.id === moved.current);
    list.current?.querySelectorAll<HTMLElement>('.jp-exploracoder-goal')[place]?.focus();
    moved.current = null;
  }, [order]);

  const move = React.useCallback(
    (subtask: string, before: string | null) => {
      moved.current = subtask;
      tools.send(model, { kind: 'move_subtask', subtask, before });
    },
    [model, tools]
  );

  const { handlers, target } = useDragging(steps, move);

  if (!steps.length) {
    return (
      <p className="jp-exploracoder-empty">
        {exploration.solution && !exploration.is_planned
          ? trans.__(
              'A first attempt solved the task without a plan. Choose Explore to plan it and work through it step by step.'
            )
          : trans.__(
              'The plan appears here: small subtasks of one or two calls each. You can change it before anything runs.'
            )}
      </p>
    );
  }
  return (
    <>
      <ol
        ref={list}
        className="jp-exploracoder-plan"
        aria-label={trans.__('Plan')}
        data-target={target === null}
        {...handlers}
      >
        {steps.map((step, index) => (
          <PlanItem
            key={step.subtask.id}
            step={step}
            number={index + 1}
            model={model}
            tools={tools}
            isSelected={step.subtask.id === selected}
            isWorking={progress.activity === 'working' && progress.part === step.subtask.id}
            abilities={model.abilities[step.subtask.id] ?? NONE}
            onSelect={onSelect}
            before={placeAbove(model, steps, index)}
            after={placeBelow(steps, index)}
            isTarget={step.subtask.id === target}
            onMove={move}
          />
        ))}
      </ol>
      <NewSubtask model={model} tools={tools} />
    </>
  );
}

/** The step before which a step goes when moved up; undefined if it cannot move. */
function placeAbove(model: IExplorationModel, steps: Step[], index: number): string | undefined {
  const above = steps[index - 1]?.subtask.id;
  return model.abilities[above]?.includes('add_subtask') ? above : undefined;
}

/** The step before which it goes when moved down; null is the plan's end. */
function placeBelow(steps: Step[], index: number): string | null | undefined {
  if (!steps[index + 1]) {
    return undefined;
  }
  return steps[index + 2]?.subtask.id ?? null;
}

function NewSubtask(props: { model: IExplorationModel; tools: ITools }): React.ReactElement {
  const { model, tools } = props;
  const { trans } = tools;
  const [goal, setGoal] = React.useState('');
  const add = (event: React.FormEvent) => {
    event.preventDefault();
    if (goal.trim()) {
      tools.send(model, { kind: 'add_subtask', goal: goal.trim() });
      setGoal('');
    }
  };
  return (
    <form className="jp-exploracoder-row" onSubmit={add}>
      <input
        className="jp-mod-styled"
        aria-label={trans.__('New subtask')}
        placeholder={trans.__('Add a subtask…')}
        value={goal}
        maxLength={2000}
        onChange={event => setGoal(event.target.value)}
      />
      <Action
        label={trans.__('Add')}
        icon={addIcon}
        isDisabled={!goal.trim() || !model.can('add_subtask')}
        onClick={() => add({ preventDefault: () => undefined } as React.FormEvent)}
      />
    </form>
  );
}
