import { PathExt } from '@jupyterlab/coreutils';
import * as nbformat from '@jupyterlab/nbformat';
import { Contents, RestContentProvider } from '@jupyterlab/services';
import { PartialJSONObject } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';
import { applyCells } from '../model';
import { CellsChange, NotebookSave, SavedNotebook } from '../protocol';
import { RequestError, Requests } from '../request';
import { KEY, MERGE_KEY, isObject, stateOf } from './marks';

type Base = NotebookSave['base'];

// Only a few answers are under way at a time.
const MOST_KNOWN = 8;
const LONG_AGO = new Date(0).toISOString();

/** The result of a save: the cells that were sent, and others' changes to them. */
export interface IMerge {
  path: string;
  /** Counts the saves; stored in the notebook's metadata once this is merged. */
  number: number;
  sent: ReadonlyArray<nbformat.ICell>;
  change: CellsChange;
}

/**
 * Reads and saves notebooks as JupyterLab does, except those of explorations: the server writes
 * them, and merges its own version with those of this tab and others.
 */
export class ExplorationContents extends RestContentProvider {
  constructor(private readonly _requests: Requests) {
    super({ apiEndpoint: 'api/contents', serverSettings: _requests.settings });
  }

  /** Emitted when a notebook was saved. */
  get merged(): ISignal<this, IMerge> {
    return this._merged;
  }

  /** A file or folder was renamed. */
  rename(before: string, after: string): void {
    for (const [path, known] of this._known) {
      if (path === before || path.startsWith(`${before}/`)) {
        this._known.delete(path);
        this._known.set(after + path.slice(before.length), known);
      }
    }
  }

  override async get(path: string, options?: Contents.IFetchOptions): Promise<Contents.IModel> {
    const model = await super.get(path, options);
    if (model.type === 'notebook' && model.content) {
      this._known.delete(path);
      if (isOurs(model.content)) {
        this._known.set(path, new Map([[0, baseOf(model.content.cells)]]));
      }
    }
    return this._known.has(path) ? timeless(model) : model;
  }

  override async save(
    path: string,
    options: Contents.IContentProvisionOptions & Partial<Contents.IModel> = {}
  ): Promise<Contents.IModel> {
    const known = this._known.get(path);
    if (!known || options.type !== 'notebook' || !options.content) {
      return super.save(path, options);
    }
    // The previous save's result is needed to tell what others have changed.
    const saving = this._saving.then(() => this._save(path, known, options));
    this._saving = saving.catch(() => undefined);
    return saving;
  }

  private async _save(
    path: string,
    known: Map<number, Base>,
    options: Contents.IContentProvisionOptions & Partial<Contents.IModel>
  ): Promise<Contents.IModel> {
    const { content } = options;
    const sent = content.cells as nbformat.ICell[];
    const taken = Number(content.metadata[MERGE_KEY] ?? 0);
    const base = known.get(taken) ?? {};
    try {
      const body: NotebookSave = { path, content, base };
      const { change, ...saved } = await this._requests.put<SavedNotebook>('notebook', body);
      const number = (this._count += 1);
      // Anything sent before this answer is merged is based on these cells.
      known.set(taken, baseOf(sent));
      known.set(number, baseOf(applyCells(sent, change)));
      [...known.keys()].slice(0, -MOST_KNOWN).forEach(one => known.delete(one));
      this._merged.emit({ path, number, sent, change });
      const { created, last_modified, writable, size } = saved;
      return timeless({
        name: PathExt.basename(path),
        path,
        type: 'notebook',
        writable,
        created,
        last_modified,
        mimetype: '',
        content: null,
        format: 'json',
        size: size ?? undefined
      });
    } catch (error) {
      if (error instanceof RequestError && [400, 404].includes(error.status)) {
        // It was deleted, or the server cannot read it.
        return timeless(await super.save(path, options));
      }
      throw error;
    }
  }

  /** The cells that this tab knew, by path and by number of the save. */
  private _known = new Map<string, Map<number, Base>>();
  private _count = 0;
  private _saving: Promise<unknown> = Promise.resolve();
  private _merged = new Signal<this, IMerge>(this);
}

/**
 * Name the provider on the default drive alone: a widget factory names one for all of them, and a
 * drive that does not have it would open no notebook.
 */
export function sparingOtherDrives(contents: Contents.IManager): void {
  const sparing =
    <O extends Partial<Contents.IContentProvisionOptions>, T>(
      ask: (path: string, options?: O) => T
    ) =>
    (path: string, options?: O) => {
      const isElsewhere = options?.contentProviderId === KEY && contents.driveName(path) !== '';
      return ask.call(
        contents,
        path,
        isElsewhere ? { ...options, contentProviderId: undefined } : options
      );
    };
  const { get, getSharedModelFactory, save } = contents;
  Object.assign(contents, {
    get: sparing(get),
    getSharedModelFactory: sparing(getSharedModelFactory),
    save: sparing(save)
  });
}

/** Whether a notebook's metadata holds an exploration. */
export function isExploration(metadata: PartialJSONObject | undefined): boolean {
  const saved = metadata?.[KEY];
  return isObject(saved) && typeof saved.schema_version === 'number';
}

/** Whether the server can merge a notebook: an exploration's, whose cells have ids. */
function isOurs({ cells, metadata }: nbformat.INotebookContent): boolean {
  return isExploration(metadata) && cells.every(cell => typeof cell.id === 'string');
}

function baseOf(cells: ReadonlyArray<nbformat.ICell>): Base {
  return Object.fromEntries(cells.map(cell => [cell.id as string, stateOf(cell)]));
}

/**
 * A file without a timestamp: saving it never overwrites what others have saved, so JupyterLab need
 * not ask which version to keep.
 */
function timeless(model: Contents.IModel): Contents.IModel {
  return { ...model, last_modified: LONG_AGO, hash: undefined };
}
