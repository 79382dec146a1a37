import * as nbformat from '@jupyterlab/nbformat';
import { JSONExt, PartialJSONObject, PartialJSONValue } from '@lumino/coreutils';

/** The server's key in the metadata of its cells and of the notebook. */
export const KEY = 'exploracoder';

/**
 * Our own key in a cell's metadata, apart from the server's: the kernel reads that one with every
 * execution, and has no use for this one.
 */
export const WRITTEN_KEY = 'exploracoder_written';

/** Our key in a notebook's metadata: the number of the last save whose answer was merged. */
export const MERGE_KEY = 'exploracoder_merge';

/** What a cell of an exploration's notebook is. */
export type Role =
  'task' | 'context' | 'goal' | 'candidate' | 'verdict' | 'solution' | 'check' | 'branches';

/** The server's mark on one of its cells. */
export interface IMark {
  role: Role;
  subtask: string | null;
}

/** Fingerprints of what was last written into a cell: source, and outputs with the count. */
export interface ICellFingerprints {
  source: string;
  shown: string;
}

const OWN_IDS: { [role: string]: string } = { verdict: 'solution-verdict' };
const ROLES = 'task context goal candidate verdict solution check branches'.split(' ');

/** The mark in a cell's metadata; null if there is none or it is invalid. */
export function markOf(metadata: PartialJSONObject | undefined): IMark | null {
  const mark = metadata?.[KEY];
  if (!isObject(mark) || typeof mark.role !== 'string' || !ROLES.includes(mark.role)) {
    return null;
  }
  const subtask = typeof mark.subtask === 'string' ? mark.subtask : null;
  return { role: mark.role as Role, subtask };
}

/**
 * Whether the server made a cell. A copy that the user pasted has the mark but a different id, and
 * belongs to the user.
 */
export function isOurs(id: string, metadata: PartialJSONObject | undefined): boolean {
  const mark = markOf(metadata);
  return mark !== null && id === idOf(mark);
}

function idOf(mark: IMark): string {
  switch (mark.role) {
    case 'goal':
      return `${mark.subtask}-goal`;
    case 'candidate':
      return mark.subtask ?? '';
    default:
      return OWN_IDS[mark.role] ?? mark.role;
  }
}

/** What was last written into a cell; null when we did not write it. */
export function writtenIn(metadata: PartialJSONObject | undefined): ICellFingerprints | null {
  const written = metadata?.[WRITTEN_KEY];
  if (!isObject(written)) {
    return null;
  }
  const { source, shown } = written;
  return typeof source === 'string' && typeof shown === 'string' ? { source, shown } : null;
}

/** The fingerprints of a cell as sent by the server. */
export function writtenFor(cell: nbformat.ICell): ICellFingerprints {
  const shown = nbformat.isCode(cell)
    ? [cell.execution_count ?? null, normalOutputs(cell.outputs)]
    : null;
  return { source: fingerprint(sourceOf(cell)), shown: fingerprint(JSON.stringify(shown)) };
}

/** A cell's source as a string. */
export function sourceOf(cell: nbformat.ICell): string {
  return joined(cell.source);
}

/** Outputs with multi-line text joined, as files and messages differ in that. */
export function normalOutputs(outputs: nbformat.IOutput[] | undefined): PartialJSONObject[] {
  return (outputs ?? []).map(output => {
    const copy = JSONExt.deepCopy(output) as PartialJSONObject;
    delete copy.transient;
    if (Array.isArray(copy.text)) {
      copy.text = joined(copy.text as string[]);
    }
    if (isObject(copy.data)) {
      copy.data = normalData(copy.data);
    }
    return copy;
  });
}

function normalData(data: PartialJSONObject): PartialJSONObject {
  const entries = Object.entries(data).map(([mime, value]) => {
    const isText = Array.isArray(value) && value.every(line => typeof line === 'string');
    return [mime, isText ? joined(value as string[]) : value];
  });
  return Object.fromEntries(entries) as PartialJSONObject;
}

function joined(text: string | string[]): string {
  return Array.isArray(text) ? text.join('') : text;
}

/** A short hash of a text, the same on every machine (FNV-1a, 32 bits, with the length). */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return `${text.length.toString(36)}-${(hash >>> 0).toString(36)}`;
}

/** Tells whether a cell was changed or run; computed as on the server. */
export function stateOf(cell: nbformat.ICell): string {
  const { attachments, outputs } = cell as {
    attachments?: nbformat.IAttachments;
    outputs?: nbformat.IOutput[];
  };
  const parts = [
    cell.cell_type,
    cell.execution_count || '',
    outputs?.length ?? 0,
    Object.keys(attachments ?? {}).sort(),
    sourceOf(cell)
  ];
  return fingerprint(parts.join(':'));
}

/** Whether a JSON value is an object. */
export function isObject(value: PartialJSONValue | undefined): value is PartialJSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
