import {
  closeIcon,
  deleteIcon,
  editIcon,
  fastForwardIcon,
  LabIcon,
  refreshIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { doneIcon, failedIcon, openIcon, turnIcon, workingIcon } from '../icons';
import { Step } from '../protocol';
import { IExplorationModel } from '../tokens';
import { isOpen, stepWords } from '../wording';
import { IconAction } from './action';
import { DragHandle } from './dragging';
import { ITools } from './tools';

interface IPlanItemProps {
  step: Step;
  number: number;
  model: IExplorationModel;
  tools: ITools;
  isSelected: boolean;
  isWorking: boolean;
  /** Whether anything is worked on; said only to the one that is selected. */
  isBusy: boolean;
  onSelect: (subtask: string) => void;
  /** The subtask that it comes before after a move up; undefined when it cannot be moved. */
  before: string | undefined;
  after: string | null | undefined;
  /** Whether what is dragged would be put before it. */
  isTarget: boolean;
  onMove: (subtask: string, before: string | null) => void;
}

/**
 * A subtask in the plan. Alt with an arrow key moves it, F2 renames it, Delete takes it out.
 *
 * Drawn again only when something of it has changed: a plan may be long, and icons are slow.
 */
export const PlanItem = React.memo((props: IPlanItemProps): React.ReactElement => {
  const { isSelected, isTarget, isWorking, step } = props;
  const [isEdited, setEdited] = React.useState(false);
  const item = React.useRef<HTMLLIElement>(null);
  const wasEdited = React.useRef(false);
  React.useEffect(() => {
    // The focus goes back to where it came from.
    if (wasEdited.current && !isEdited) {
      item.current?.querySelector<HTMLElement>('.jp-exploracoder-goal')?.focus();
    }
    wasEdited.current = isEdited;
  }, [isEdited]);
  const isFree = isOpen(step) && !isWorking;
  return (
    <li
      ref={item}
      className="jp-exploracoder-plan-item"
      data-status={isWorking ? 'working' : step.status}
      data-subtask={step.subtask.id}
      data-target={isTarget}
      aria-current={isSelected ? 'step' : undefined}
      draggable={isFree && !isEdited}
    >
      {isEdited ? (
        <GoalEditor {...props} onDone={() => setEdited(false)} />
      ) : (
        <GoalLine {...props} isFree={isFree} onEdit={() => setEdited(true)} />
      )}
    </li>
  );
});

function GoalLine(
  props: IPlanItemProps & { isFree: boolean; onEdit: () => void }
): React.ReactElement {
  const { isFree, isSelected, isWorking, number, onEdit, onSelect } = props;
  const { model, step, tools } = props;
  const words = stepWords(tools.trans, step, isWorking);
  const icon = iconOf(step, isWorking);
  return (
    <>
      {isFree && <DragHandle />}
      <button
        type="button"
        className="jp-exploracoder-goal"
        aria-keyshortcuts={isFree ? 'Alt+ArrowUp Alt+ArrowDown F2 Delete' : undefined}
        onClick={() => onSelect(step.subtask.id)}
        onDoubleClick={() =>
          isFree
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
      {isSelected && isFree && <GoalActions {...props} onEdit={onEdit} />}
    </>
  );
}

function GoalActions(props: IPlanItemProps & { onEdit: () => void }): React.ReactElement {
  const { isBusy, model, onEdit, step, tools } = props;
  const { trans } = tools;
  const subtask = step.subtask.id;
  return (
    <span className="jp-exploracoder-goal-actions">
      <IconAction label={trans.__('Rename')} icon={editIcon} onClick={onEdit} />
      <IconAction
        label={trans.__('Plan again from here')}
        icon={refreshIcon}
        isDisabled={isBusy}
        onClick={() => tools.execute('exploracoder:replan', { id: model.id, subtask })}
      />
      <IconAction
        label={trans.__('Delete')}
        icon={deleteIcon}
        onClick={() => tools.deleteSubtask(model, subtask)}
      />
    </span>
  );
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
        onKeyDown={event => event.key === 'Escape' && onDone()}
      />
      <IconAction label={trans.__('Keep the old goal')} icon={closeIcon} onClick={onDone} />
    </form>
  );
}

function onKey(event: React.KeyboardEvent, props: IPlanItemProps, onEdit: () => void): void {
  const { after, before, isWorking, model, onMove, step, tools } = props;
  const subtask = step.subtask.id;
  const items = Array.from(
    event.currentTarget.closest('ol')?.querySelectorAll<HTMLElement>('.jp-exploracoder-goal') ?? []
  );
  const place = items.indexOf(event.currentTarget as HTMLElement);
  const isFree = isOpen(step) && !isWorking;
  const target = event.key === 'ArrowUp' ? before : after;
  if (event.altKey && event.key.startsWith('Arrow')) {
    if (isFree && target !== undefined) {
      onMove(subtask, target);
    }
  } else if (event.key === 'ArrowUp') {
    items[place - 1]?.focus();
  } else if (event.key === 'ArrowDown') {
    items[place + 1]?.focus();
  } else if (event.key === 'F2' && isFree) {
    onEdit();
  } else if (event.key === 'Delete' && isFree) {
    tools.deleteSubtask(model, subtask);
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
