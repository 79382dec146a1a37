/** A position in the task history, browsed as in a shell. */
export interface IRecall {
  /** Which earlier task is shown, from 0; -1 is the user's own text. */
  readonly index: number;
  /** What each of these texts was when it was left, as the user may have edited it. */
  readonly texts: { readonly [index: number]: string };
}

export const NO_RECALL: IRecall = { index: -1, texts: {} };

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
  const texts = { ...recall.texts, [recall.index]: text };
  return { recall: { index, texts }, text: texts[index] ?? history[index] ?? '' };
}
