import { closeIcon, fastForwardIcon, LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { isComposing } from '../composing';
import { Ability, ALL_OF_SUBTASK } from '../actions';
import { doneIcon, failedIcon, openIcon, turnIcon, workingIcon } from '../icons';
import { Step } from '../protocol';
import { IExplorationModel } from '../tokens';
import { stepWords } from '../wording';
import { IconAction, MenuButton } from './action';
import { DragHandle } from './dragging';
import { ITools } from './tools';

interface IPlanItemProps {
  step: Step;
  number: number;
  model: IExplorationModel;
  tools: ITools;
  isSelected: boolean;
  isWorking: boolean;
  /** The actions possible now. */
  abilities: readonly Ability[];
  onSelect: (subtask: string) => void;
  /** The subtask that it goes before when moved up; undefined when it cannot move up. */
  before: string | undefined;
  after: string | null | undefined;
  /** Whether the dragged subtask would go before it. */
  isTarget: boolean;
  onMove: (subtask: string, before: string | null) => void;
}

/**
 * A subtask in the plan. Alt with an arrow key moves it, F2 renames it, Delete takes it out.
 *
 * Redrawn only when its props change: a plan may be long, and icons are slow.
 */
export const PlanItem = React.memo((props: IPlanItemProps): React.ReactElement => {
  const { abilities, isSelected, isTarget, isWorking, model, step, tools } = props;
  const [isEdited, setEdited] = React.useState(false);
  const item = React.useRef<HTMLLIElement>(null);
  const wasEdited = React.useRef(false);
  React.useEffect(() => {
    // Return the focus to where it came from.
    if (wasEdited.current && !isEdited) {
      item.current?.querySelector<HTMLElement>('.jp-exploracoder-goal')?.focus();
    }
    wasEdited.current = isEdited;
  }, [isEdited]);
  return (
    <li
      ref={item}
      className="jp-exploracoder-plan-item"
      data-status={isWorking ? 'working' : step.status}
      data-subtask={step.subtask.id}
      data-target={isTarget}
      aria-current={isSelected ? 'step' : undefined}
      draggable={abilities.includes('move_subtask') && !isEdited}
      onContextMenu={event => {
        event.preventDefault();
        openMenu(model, step, tools, event.currentTarget);
      }}
    >
      {isEdited ? (
        <GoalEditor {...props} onDone={() => setEdited(false)} />
      ) : (
        <GoalLine {...props} onEdit={() => setEdited(true)} />
      )}
    </li>
  );
});

function GoalLine(props: IPlanItemProps & { onEdit: () => void }): React.ReactElement {
  const { abilities, isSelected, isWorking, number, onEdit, onSelect } = props;
  const { model, step, tools } = props;
  const words = stepWords(tools.trans, step, isWorking);
  const icon = iconOf(step, isWorking);
  const canMove = abilities.includes('move_subtask');
  return (
    <>
      {canMove && <DragHandle />}
      <button
        type="button"
        className="jp-exploracoder-goal"
        aria-keyshortcuts={canMove ? 'Alt+ArrowUp Alt+ArrowDown F2 Delete' : undefined}
        onClick={() => onSelect(step.subtask.id)}
        onDoubleClick={() =>
          abilities.includes('rename_subtask')
            ? onEdit()
            : tools.execute('exploracoder:open-notebook', {
                id: model.id,
                subtask: step.subtask.id
              })
        }
        onKeyDown={event => onKey(event, props, onEdit)}
      >
        <icon.react tag="span" aria-hidden="true" />
        <span>
          {`${number}. ${step.subtask.goal} `}
          <span className="jp-exploracoder-state">{words}</span>
        </span>
      </button>
      {isSelected && (
        <span className="jp-exploracoder-goal-actions">
          <MenuButton
            label={tools.trans.__('More about this subtask')}
            onOpen={button => openMenu(model, step, tools, button)}
          />
        </span>
      )}
    </>
  );
}

/** Opens a subtask's menu, and gives the focus to its goal afterwards. */
function openMenu(model: IExplorationModel, step: Step, tools: ITools, opener: HTMLElement): void {
  const goal = opener.closest('li')?.querySelector<HTMLElement>('.jp-exploracoder-goal');
  const about = { id: model.id, subtask: step.subtask.id };
  tools.openMenu(ALL_OF_SUBTASK, about, opener, goal ?? opener);
}

function GoalEditor(props: IPlanItemProps & { onDone: () => void }): React.ReactElement {
  const { model, onDone, step, tools } = props;
  const { trans } = tools;
  const [goal, setGoal] = React.useState(step.subtask.goal);
  const save = (event: React.FormEvent) => {
    event.preventDefault();
    const text = goal.trim();
    if (text && text !== step.subtask.goal) {
      const subtask = step.subtask.id;
      tools.send(model, { kind: 'rename_subtask', subtask, goal: text });
    }
    onDone();
  };
  return (
    <form className="jp-exploracoder-row" onSubmit={save}>
      <input
        className="jp-mod-styled"
        autoFocus
        aria-label={trans.__('Goal of the subtask')}
        value={goal}
        maxLength={2000}
        onChange={event => setGoal(event.target.value)}
        onKeyDown={event => event.key === 'Escape' && !isComposing(event) && onDone()}
      />
      <IconAction label={trans.__('Keep the old goal')} icon={closeIcon} onClick={onDone} />
    </form>
  );
}

function onKey(event: React.KeyboardEvent, props: IPlanItemProps, onEdit: () => void): void {
  const { abilities, after, before, model, onMove, step, tools } = props;
  const subtask = step.subtask.id;
  const items = Array.from(
    event.currentTarget.closest('ol')?.querySelectorAll<HTMLElement>('.jp-exploracoder-goal') ?? []
  );
  const place = items.indexOf(event.currentTarget as HTMLElement);
  const target = event.key === 'ArrowUp' ? before : after;
  if (event.altKey && event.key.startsWith('Arrow')) {
    if (abilities.includes('move_subtask') && target !== undefined) {
      onMove(subtask, target);
    }
  } else if (event.key === 'ArrowUp') {
    items[place - 1]?.focus();
  } else if (event.key === 'ArrowDown') {
    items[place + 1]?.focus();
  } else if (event.key === 'F2' && abilities.includes('rename_subtask')) {
    onEdit();
  } else if (event.key === 'Delete' && abilities.includes('delete_subtask')) {
    tools.execute('exploracoder:delete', { id: model.id, subtask });
  } else {
    return;
  }
  event.preventDefault();
}

function iconOf(step: Step, isWorking: boolean): LabIcon {
  if (isWorking) {
    return workingIcon;
  }
  switch (step.status) {
    case 'pending':
      return openIcon;
    case 'review':
      return turnIcon;
    case 'done':
      return doneIcon;
    case 'failed':
      return failedIcon;
    case 'skipped':
      return fastForwardIcon;
  }
}
