import * as React from 'react';
import { dragIcon } from '../icons';
import { Step } from '../protocol';
import { isOpen } from '../wording';

// Custom, so that goals cannot be dropped into cells as text.
const TYPE = 'application/x-exploracoder-subtask';

/** Where the dragged subtask would go: before a subtask, or null for the end. */
type Place = string | null;

/** Reorders open subtasks with the mouse. */
export function useDragging(
  steps: ReadonlyArray<Step>,
  onMove: (subtask: string, before: Place) => void
): { target: Place | undefined; handlers: React.HTMLAttributes<HTMLElement> } {
  const [dragged, setDragged] = React.useState<string | null>(null);
  const [target, setTarget] = React.useState<Place>();
  const end = () => {
    setDragged(null);
    setTarget(undefined);
  };
  const handlers: React.HTMLAttributes<HTMLElement> = {
    onDragStart: event => {
      // The user may also be dragging selected text.
      const subtask = (event.target as HTMLElement).dataset?.subtask ?? null;
      event.dataTransfer.effectAllowed = 'move';
      event.dataTransfer.setData(TYPE, subtask ?? '');
      setDragged(subtask);
    },
    onDragEnd: end,
    onDragOver: event => {
      const place = dragged === null ? undefined : placeOf(event, steps, dragged);
      setTarget(place);
      if (place !== undefined) {
        event.preventDefault();
      }
    },
    onDragLeave: event => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) {
        setTarget(undefined);
      }
    },
    onDrop: event => {
      event.preventDefault();
      if (dragged !== null && target !== undefined) {
        onMove(dragged, target);
      }
      end();
    }
  };
  return { target, handlers };
}

/** A subtask's drag handle; the keys do the same. */
export function DragHandle(): React.ReactElement {
  return <dragIcon.react tag="span" className="jp-exploracoder-drag" aria-hidden="true" />;
}

/** Undefined if nothing would move or is allowed to. */
function placeOf(
  event: React.DragEvent,
  steps: ReadonlyArray<Step>,
  dragged: string
): Place | undefined {
  const item = itemOf(event);
  const index = steps.findIndex(step => step.subtask.id === item?.dataset.subtask);
  if (!item || index < 0 || !isOpen(steps[index])) {
    return undefined;
  }
  const { height, top } = item.getBoundingClientRect();
  const isBelow = event.clientY > top + height / 2;
  const place = steps[isBelow ? index + 1 : index]?.subtask.id ?? null;
  const here = steps.findIndex(step => step.subtask.id === dragged);
  const isSame = place === dragged || place === (steps[here + 1]?.subtask.id ?? null);
  return isSame ? undefined : place;
}

function itemOf(event: React.DragEvent): HTMLElement | null {
  return (event.target as HTMLElement).closest<HTMLElement>('[data-subtask]');
}
