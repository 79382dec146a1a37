import * as nbformat from '@jupyterlab/nbformat';
import { Contents, RestContentProvider } from '@jupyterlab/services';
import { PartialJSONObject } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';
import { applyCells } from '../model';
import { CellsChange, NotebookSave, SavedNotebook } from '../protocol';
import { RequestError, Requests } from '../request';
import { KEY, fingerprint, isObject, sourceOf } from './marks';

const LONG_AGO = new Date(0).toISOString();

/** What a save has brought: the cells that were sent, and what others have made of them. */
export interface IMerge {
  path: string;
  sent: ReadonlyArray<nbformat.ICell>;
  change: CellsChange;
}

/**
 * Reads and saves notebooks as JupyterLab does by itself, but for those of explorations: these the
 * server writes, and puts together what it has itself, this tab and others.
 */
export class ExplorationContents extends RestContentProvider {
  constructor(private readonly _requests: Requests) {
    super({ apiEndpoint: 'api/contents', serverSettings: _requests.settings });
  }

  /** Emitted when a notebook was saved. */
  get merged(): ISignal<this, IMerge> {
    return this._merged;
  }

  /** A notebook of ours was renamed. */
  rename(before: string, after: string): void {
    for (const [path, base] of this._bases) {
      if (path === before || path.startsWith(`${before}/`)) {
        this._bases.delete(path);
        this._bases.set(after + path.slice(before.length), base);
      }
    }
  }

  override async get(path: string, options?: Contents.IFetchOptions): Promise<Contents.IModel> {
    const model = await super.get(path, options);
    if (model.type === 'notebook' && model.content) {
      this._bases.delete(path);
      if (isExploration(model.content.metadata)) {
        this._bases.set(path, baseOf(model.content.cells));
      }
    }
    return this._bases.has(path) ? timeless(model) : model;
  }

  override async save(
    path: string,
    options: Contents.IContentProvisionOptions & Partial<Contents.IModel> = {}
  ): Promise<Contents.IModel> {
    const base = this._bases.get(path);
    if (!base || options.type !== 'notebook' || !options.content) {
      return super.save(path, options);
    }
    const { content } = options;
    const sent = content.cells as nbformat.ICell[];
    try {
      const body: NotebookSave = { path, content, base };
      const saved = await this._requests.put<SavedNotebook>('notebook', body);
      this._bases.set(path, baseOf(applyCells(sent, saved.change)));
      this._merged.emit({ path, sent, change: saved.change });
      const { created, last_modified, writable, size } = saved;
      const known = { ...(options as Contents.IModel), path, created, last_modified, writable };
      return timeless({ ...known, size: size ?? undefined, content: null, format: null });
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) {
        // It was deleted; or nothing of ours is in the server any more.
        return timeless(await super.save(path, options));
      }
      throw error;
    }
  }

  private _bases = new Map<string, NotebookSave['base']>();
  private _merged = new Signal<this, IMerge>(this);
}

/** Whether the metadata of a notebook has an exploration. */
export function isExploration(metadata: PartialJSONObject | undefined): boolean {
  const saved = metadata?.[KEY];
  return isObject(saved) && typeof saved.schema_version === 'number';
}

function baseOf(cells: ReadonlyArray<nbformat.ICell>): { [id: string]: string } {
  return Object.fromEntries(
    cells.map(cell => [
      cell.id as string,
      fingerprint(`${(cell.execution_count as number | null) || ''}:${sourceOf(cell)}`)
    ])
  );
}

/**
 * A file without a time: whoever saves it does not go over what others have saved since, so nobody
 * has to be asked which one to keep.
 */
function timeless(model: Contents.IModel): Contents.IModel {
  return { ...model, last_modified: LONG_AGO, hash: undefined };
}
