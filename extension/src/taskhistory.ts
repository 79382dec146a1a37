/** A position in the task history, browsed as in a shell. */
export interface IRecall {
  /** Which earlier task is shown, from 0; -1 is the user's own text. */
  readonly index: number;
  /** What the user had written before. */
  readonly own: string;
}

export const NO_RECALL: IRecall = { index: -1, own: '' };

/** The position one step up (1) or down (-1), and its text; null at either end. */
export function recalled(
  history: ReadonlyArray<string>,
  recall: IRecall,
  text: string,
  step: 1 | -1
): { recall: IRecall; text: string } | null {
  const index = recall.index + step;
  if (index < -1 || index >= history.length) {
    return null;
  }
  const isEdited = text !== history[recall.index];
  const own = isEdited && (recall.index === -1 || !recall.own.trim()) ? text : recall.own;
  return { recall: { index, own }, text: index === -1 ? own : history[index] };
}
