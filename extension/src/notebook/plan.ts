import * as nbformat from '@jupyterlab/nbformat';
import { JSONExt, PartialJSONObject, PartialJSONValue } from '@lumino/coreutils';
import {
  ICellFingerprints,
  WRITTEN_KEY,
  fingerprint,
  isOurs,
  normalOutputs,
  sourceOf,
  writtenFor,
  writtenIn
} from './marks';
import { longestRising } from './longestrising';

/** A cell as it is in the notebook now. */
export interface ICurrentCell {
  json: nbformat.ICell;
  /** It is executing and must not be touched. */
  isRunning: boolean;
}

/** What changes in a cell that stays where it is. */
export interface IChange {
  id: string;
  metadata: PartialJSONObject;
  source?: string;
  /** Whether `source` overwrites an edit by the user, who may want it back. */
  isOverEdit?: boolean;
  outputs?: nbformat.IOutput[];
  executionCount?: number | null;
}

/** How to bring a notebook up to date: deletions first, then insertions, then changes. */
export interface IPlan {
  /** Indices in the current notebook, from last to first. */
  deletions: number[];
  /** Cells with their indices in the finished notebook, from first to last. */
  insertions: { index: number; cell: nbformat.ICell }[];
  changes: IChange[];
}

/** Whether there is nothing to do. */
export function isDone(plan: IPlan): boolean {
  return !plan.deletions.length && !plan.insertions.length && !plan.changes.length;
}

/**
 * Plan how to turn a notebook into what the server wants it to be.
 *
 * Cells are matched by id. The user's own cells stay after the cell that they followed; an edit in
 * one of our cells stays as long as the server has nothing newer, and becomes a cell of the user's
 * then, or if ours is no longer wanted; running cells are left alone.
 */
export function planUpsert(
  current: ReadonlyArray<ICurrentCell>,
  wanted: ReadonlyArray<nbformat.ICell>
): IPlan {
  const ours = ourIndices(current, new Set(wanted.map(cell => cell.id as string)));
  const target = arrange(current, ours, wanted);
  const staying = stay(current, target);
  const isStaying = (index: number | null): index is number => index !== null && staying.has(index);
  return {
    deletions: [...current.keys()].filter(index => !staying.has(index)).reverse(),
    insertions: target.flatMap(({ index, cell, isWanted }, place) =>
      isStaying(index) ? [] : [{ index: place, cell: isWanted ? stamp(cell) : cell }]
    ),
    changes: target.flatMap(({ index, cell, isWanted }) =>
      isStaying(index) && isWanted ? changesOf(current[index], cell) : []
    )
  };
}

/** The indices of the server's cells by id. If two share an id, the first counts. */
function ourIndices(
  current: ReadonlyArray<ICurrentCell>,
  wanted: ReadonlySet<string>
): Map<string, number> {
  const found = new Map<string, number>();
  current.forEach(({ json }, index) => {
    const id = json.id as string;
    if (!found.has(id) && (wanted.has(id) || isOurs(id, json.metadata))) {
      found.set(id, index);
    }
  });
  return found;
}

interface IPlacedCell {
  /** The cell's index now; null when it is not there yet. */
  index: number | null;
  cell: nbformat.ICell;
  /** Whether the server wants it; if not, it is the user's or running. */
  isWanted: boolean;
}

/** The cells of the finished notebook in their order. */
function arrange(
  current: ReadonlyArray<ICurrentCell>,
  ours: ReadonlyMap<string, number>,
  wanted: ReadonlyArray<nbformat.ICell>
): IPlacedCell[] {
  const next = new Map(wanted.map(cell => [cell.id as string, cell]));
  const typed = new Map(
    current
      .filter(({ json }, index) => ours.get(json.id as string) === index)
      .filter(({ json, isRunning }) => !isRunning && isEditLost(json, next.get(json.id as string)))
      .map(({ json }) => [ownId(json), sourceOf(json)])
  );
  // The server may have kept less of what was typed. One with outputs has been run since.
  const isLess = ({ json, isRunning }: ICurrentCell) => {
    const [source, later] = [sourceOf(json), typed.get(json.id as string)];
    const isUsed = isRunning || (nbformat.isCode(json) && json.outputs.length > 0);
    return !isUsed && later !== undefined && source !== later && isPart(source, later);
  };
  const here = new Map(
    current.filter(cell => !isLess(cell)).map(({ json }) => [json.id as string, sourceOf(json)])
  );
  const followers = new Map<string | null, IPlacedCell[]>();
  let leader: string | null = null;
  const follow = (index: number | null, cell: nbformat.ICell) =>
    followers.set(leader, [...(followers.get(leader) ?? []), { index, cell, isWanted: false }]);
  current.forEach(({ json, isRunning }, index) => {
    const id = json.id as string;
    const isOur = ours.get(id) === index;
    const isWanted = isOur && next.has(id);
    if (isWanted) {
      leader = id;
    } else if (!here.has(id)) {
      return;
    } else if (!isOur || isRunning) {
      // A removed cell of ours stays until it has finished running.
      follow(index, json);
    }
    if (isOur && !isRunning && isEditLost(json, next.get(id))) {
      const own = asOwn(json, here);
      if (!here.has(own.id as string)) {
        follow(null, own);
      }
    }
  });
  const target = [...(followers.get(null) ?? [])];
  for (const cell of wanted) {
    target.push({ index: reusable(current, ours, cell), cell, isWanted: true });
    target.push(...(followers.get(cell.id as string) ?? []));
  }
  return target;
}

/** Whether a text that the user has typed in one of our cells is not in what comes there next. */
function isEditLost(cell: nbformat.ICell, next: nbformat.ICell | undefined): boolean {
  const [source, last] = [sourceOf(cell), writtenIn(cell.metadata)];
  // A stray Enter at the end is nothing to keep; as in the server.
  const isWritten = [source, source.trimEnd()].some(text => last?.source === fingerprint(text));
  const isEdited = !!source.trim() && last !== null && !isWritten;
  const isNews = next === undefined || last?.source !== writtenFor(next).source;
  return isEdited && isNews && !(next && isPart(source, sourceOf(next)));
}

/** The text of one of our cells as a cell of the user's, unless it is `here` already. */
function asOwn(cell: nbformat.ICell, here: ReadonlyMap<string, string>): nbformat.ICell {
  const source = sourceOf(cell);
  const there = here.get(ownId(cell));
  // There may be one with another text, as when such a cell was gone before.
  const isOther = there !== undefined && !isPart(source, there);
  const id = isOther ? fingerprint(`${cell.id}:${source}`) : ownId(cell);
  const { attachments } = cell as { attachments?: nbformat.IAttachments };
  const pictures = attachments ? { attachments } : {};
  const own = { id, cell_type: cell.cell_type, source, metadata: {}, ...pictures };
  return nbformat.isCode(cell) ? { ...own, outputs: [], execution_count: null } : own;
}

/** The server gives it the same id: it may have put the cell into the file by now. */
function ownId(cell: nbformat.ICell): string {
  return fingerprint(`${cell.id}:`);
}

/** Whether a text is all in a longer one, to which at most one piece was added; as in the server. */
function isPart(text: string, longer: string): boolean {
  const [part, whole] = [text.trimEnd(), longer.trimEnd()];
  const differs = [...part.split('').keys()].find(place => part[place] !== whole[place]);
  const rest = differs === undefined ? '' : part.slice(differs);
  return part.length <= whole.length && whole.endsWith(rest);
}

/** The current index of a wanted cell. A cell of another type is reused only if running. */
function reusable(
  current: ReadonlyArray<ICurrentCell>,
  ours: ReadonlyMap<string, number>,
  cell: nbformat.ICell
): number | null {
  const index = ours.get(cell.id as string);
  if (index === undefined) {
    return null;
  }
  const there = current[index];
  return there.isRunning || there.json.cell_type === cell.cell_type ? index : null;
}

/** The indices of the cells to leave in place: as many as possible, and all running ones. */
function stay(
  current: ReadonlyArray<ICurrentCell>,
  target: ReadonlyArray<IPlacedCell>
): ReadonlySet<number> {
  const places = new Map(target.map(({ index }, place) => [index, place]));
  const indices = [...current.keys()].filter(index => places.has(index));
  const values = indices.map(index => places.get(index) as number);
  const pinned = indices.map(index => current[index].isRunning);
  return new Set(longestRising(values, pinned).map(position => indices[position]));
}

function changesOf(current: ICurrentCell, wanted: nbformat.ICell): IChange[] {
  if (current.isRunning) {
    return [];
  }
  const next = writtenFor(wanted);
  const last = writtenIn(current.json.metadata);
  // Keep an edit, and the cell's outputs, while the server's source has not changed.
  const isKept =
    sourceOf(current.json) !== sourceOf(wanted) && last !== null && last.source === next.source;
  const content = isKept ? {} : changedContent(current.json, wanted, last, next);
  const stamped = stamp(wanted, isKept ? last : next);
  const metadata = changedMetadata(current.json, stamped);
  return Object.keys(metadata).length || Object.keys(content).length
    ? [{ id: wanted.id as string, metadata, ...content }]
    : [];
}

function changedContent(
  current: nbformat.ICell,
  wanted: nbformat.ICell,
  last: ICellFingerprints | null,
  next: ICellFingerprints
): Pick<IChange, 'source' | 'isOverEdit' | 'outputs' | 'executionCount'> {
  const [now, then] = [sourceOf(current), sourceOf(wanted)];
  if (now !== then) {
    const isOverEdit = last !== null && writtenFor(current).source !== last.source;
    return { source: then, isOverEdit, ...changedOutputs(current, wanted) };
  }
  // Rewrite outputs only if the server's have changed: those of a manual run stay.
  return last?.shown === next.shown ? {} : changedOutputs(current, wanted);
}

function changedOutputs(
  current: nbformat.ICell,
  wanted: nbformat.ICell
): Pick<IChange, 'outputs' | 'executionCount'> {
  if (!nbformat.isCode(current) || !nbformat.isCode(wanted)) {
    return {};
  }
  const before = {
    count: current.execution_count ?? null,
    outputs: normalOutputs(current.outputs)
  };
  const after = { count: wanted.execution_count ?? null, outputs: normalOutputs(wanted.outputs) };
  return {
    ...(JSONExt.deepEqual(before.outputs, after.outputs) ? {} : { outputs: wanted.outputs }),
    ...(before.count === after.count ? {} : { executionCount: after.count })
  };
}

function changedMetadata(current: nbformat.ICell, wanted: nbformat.ICell): PartialJSONObject {
  const before = current.metadata as PartialJSONObject;
  const entries = Object.entries(wanted.metadata as PartialJSONObject).filter(
    ([key, value]) => !JSONExt.deepEqual(before[key] ?? null, (value ?? null) as PartialJSONValue)
  );
  return Object.fromEntries(entries);
}

/** A wanted cell with its fingerprints, and without a `trusted` flag. */
function stamp(
  cell: nbformat.ICell,
  written: ICellFingerprints = writtenFor(cell)
): nbformat.ICell {
  const metadata = { ...cell.metadata, [WRITTEN_KEY]: { ...written } };
  delete metadata.trusted;
  return { ...cell, metadata };
}
