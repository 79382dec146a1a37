/**
 * What is explored in these tests, and what the scripted model says.
 *
 * The lines that it has by itself are those of the engine's tests: a cell for each of three subtasks,
 * which runs as it was written, and a solution that passes the check.
 */

export const TASK = 'Name the leaves in a text whose strength is above 3.';
export const CONTEXT = 'text = "assam 5; sencha 2; oolong 4"';
export const CHECK = 'assert names == ["assam", "oolong"]';
export const LIBRARY = 'tealeaf';

export const GOALS = [
  'Read the leaves out of the text',
  'Keep the strong leaves in a lazy pipeline',
  'Collect the names of what was kept'
];

export const READ = 'import tealeaf\nleaves = tealeaf.read_leaves(text)\nprint(leaves)';
/** Runs too, and leaves the same variable behind, but prints otherwise. */
export const READ_OTHERWISE =
  'from tealeaf import read_leaves\nleaves = read_leaves(text)\nprint(len(leaves))';
export const READ_THIRDLY =
  'import tealeaf as tea\nleaves = tea.read_leaves(text)\nprint(leaves[0].name)';
/** A name that the library does not have, nor one near to it, nor another that takes so much. */
export const READ_WRONGLY = 'import tealeaf\nleaves = tealeaf.reed(text, 1, 2, 3)';

/** In the solution, whether it is put together from the steps or written by the model. */
export const PART_OF_SOLUTION = '[leaf.name for leaf in ';

/** Code as a model answers with it. */
export function fenced(code: string): string {
  return '```python\n' + code + '\n```';
}

/** Drafts of a step: the model is asked for one, which may call functions, then for the others. */
export function drafts(first: string, ...others: string[]): Outcome[] {
  return [fenced(first), others.map(fenced)];
}

/** An error that the model's server answers with. */
export interface IFailure {
  status: number;
  message: string;
}

/** A reply, one for each choice that was asked for, or an error. */
export type Outcome = string | string[] | IFailure;

/** What the scripted model says from now on; see `browser.stage.model` in the tests. */
export interface ILines {
  goals?: string[];
  /** Whether the cells that it writes at first fail, so that each subtask is explored. */
  is_lost?: boolean;
  drafts?: { [step: number]: Outcome[] };
  debugs?: { [step: number]: Outcome[] };
  solutions?: Outcome[];
  repairs?: Outcome[];
  scripts?: Outcome[];
  looks?: Outcome[];
  /** Seconds to pause before each piece of a text that is streamed. */
  piece_seconds?: number;
  /** Whether nothing is answered until other lines are said. */
  is_held?: boolean;
  /** Seconds to wait before an answer, by kind of question; `*` is for all kinds. */
  seconds?: { [kind: string]: number };
}
