import { Kernel } from '@jupyterlab/services';
import { Debouncer } from '@lumino/polling';
import { UserNotebook } from './usernotebook';
import { CellError, SourceCell, Suggestions } from './protocol';
import { IExplorations } from './tokens';
import { variablesOf } from './variables';

const SETTLE_MS = 400;
// Requests of a million bytes are refused, so the longest cells are left out.
const MOST_SOURCE_BYTES = 800_000;
// The cells that define functions and classes bring them along.
const NO_VALUES = new Set(['function', 'method', 'ABCMeta']);

/** Suggests what the task being written should bring along, when it or the notebook changes. */
export class Suggester {
  constructor(
    private readonly _explorations: IExplorations,
    private readonly _notebook: UserNotebook,
    private readonly _isVisible: () => boolean
  ) {
    _notebook.changed.connect(this.update, this);
    _explorations.draft.changed.connect(this._onDraft, this);
    _explorations.changed.connect(this._onShown, this);
  }

  /** Suggest again once nothing has changed for a moment. */
  update(): void {
    void this._settled.invoke().catch(() => undefined);
  }

  private _onDraft(): void {
    const { task } = this._explorations.draft.value;
    if (task !== this._task) {
      this._task = task;
      this.update();
    }
  }

  /** The form is back: the kernel may have other variables by now. */
  private _onShown(): void {
    const isForm = this._explorations.current === null;
    if (isForm !== this._isForm) {
      this._isForm = isForm;
      this.update();
    }
  }

  private async _suggest(): Promise<void> {
    const { draft, current } = this._explorations;
    if (current || !this._isVisible()) {
      return;
    }
    const { kernel, place } = this._notebook;
    if (!place) {
      draft.suggest({ libraries: [], cells: [], bring: [] });
      return;
    }
    const { origin, task } = draft.value;
    const number = ++this._asked;
    const variables = await this._variables.of(kernel);
    const found = await this._explorations.suggestions({
      task,
      cells: shortened(place.cells),
      variables,
      path: place.path,
      kernel_name: place.kernelName,
      cell_id: origin?.cell_id ?? ''
    });
    // The user may have switched to another notebook or task.
    const isCurrent = number === this._asked && this._notebook.place?.path === place.path;
    if (isCurrent && draft.value.task === task && !this._explorations.current) {
      // The library that made the cell fail is already known.
      draft.suggest(origin?.is_replaced ? { ...found, libraries: [] } : found);
    }
  }

  private _task = '';
  private _asked = 0;
  private _isForm = true;
  private _variables = new KernelData();
  private _settled = new Debouncer(() => this._suggest(), SETTLE_MS);
}

/** What a failed cell brings along, and the task to fix it. */
export async function suggestionsFor(
  explorations: IExplorations,
  place: {
    path: string;
    kernel: Kernel.IKernelConnection | null;
    cells: ReadonlyArray<SourceCell>;
  },
  cellId: string,
  error: CellError
): Promise<Suggestions> {
  return explorations.suggestions({
    cells: shortened(place.cells, cellId),
    variables: await new KernelData().of(place.kernel),
    path: place.path,
    kernel_name: place.kernel?.name ?? null,
    cell_id: cellId,
    error
  });
}

/** The names of a kernel's data; while it is busy, the last known ones. */
class KernelData {
  async of(kernel: Kernel.IKernelConnection | null): Promise<string[]> {
    if (kernel?.id !== this._id) {
      this._id = kernel?.id;
      this._names = [];
    }
    const variables = kernel && (await variablesOf(kernel));
    if (variables && kernel.id === this._id) {
      this._names = variables.filter(({ type }) => !NO_VALUES.has(type)).map(({ name }) => name);
    }
    return this._names;
  }

  private _id: string | undefined;
  private _names: string[] = [];
}

function shortened(cells: ReadonlyArray<SourceCell>, kept = ''): SourceCell[] {
  const bytes = ({ source }: SourceCell) => new TextEncoder().encode(source).length;
  const sized = cells.map(({ id, source }) => ({ id, source, size: bytes({ id, source }) }));
  let total = sized.reduce((sum, { size }) => sum + size, 0);
  const dropped = new Set<string>();
  for (const one of [...sized].sort((a, b) => b.size - a.size)) {
    if (total > MOST_SOURCE_BYTES && one.id !== kept) {
      dropped.add(one.id);
      total -= one.size;
    }
  }
  return sized.filter(({ id }) => !dropped.has(id)).map(({ id, source }) => ({ id, source }));
}
