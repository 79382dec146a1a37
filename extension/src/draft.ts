import { PartialJSONValue } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';
import { CellOrigin, ModelChoice, NewExploration, Suggestions } from './protocol';

const MAX_HISTORY = 50;

/** What the form for a new exploration holds. */
export interface IDraft {
  readonly task: string;
  readonly libraries: ReadonlyArray<string>;
  /** The ids of the notebook's cells that run first. */
  readonly cells: ReadonlyArray<string>;
  /** The names of the kernel variables to bring along. */
  readonly bring: ReadonlyArray<string>;
  readonly check: string;
  readonly mode: 'auto' | 'review';
  /** The cell it was started from, if any. */
  readonly origin: CellOrigin | null;
}

/** Names and ids that can be suggested, and that the user can pick or decline. */
type Picks = Pick<IDraft, 'libraries' | 'cells' | 'bring'>;

const PICKS: ReadonlyArray<keyof Picks> = ['libraries', 'cells', 'bring'];
const NO_PICKS: Picks = { libraries: [], cells: [], bring: [] };

/** What belongs to one notebook only. */
interface IStash extends Pick<IDraft, 'cells' | 'bring' | 'origin'> {
  readonly declined: Picks;
}

const NO_STASH: IStash = { cells: [], bring: [], origin: null, declined: NO_PICKS };

/** The notebook that a new exploration belongs to. */
export interface IPlace {
  readonly path: string;
  readonly kernelName: string | null;
  readonly kernelId: string | null;
  readonly cells: ReadonlyArray<{ id: string; source: string }>;
}

/** The model, and the settings that come from the settings editor. */
export interface IChoices {
  readonly profile: string | null;
  readonly settings: { [name: string]: unknown };
  readonly model: ModelChoice;
}

/** Storage that keeps the draft across reloads. */
export interface IStore {
  fetch(key: string): Promise<unknown>;
  save(key: string, value: PartialJSONValue): Promise<unknown>;
}

const EMPTY: IDraft = {
  task: '',
  libraries: [],
  cells: [],
  bring: [],
  check: '',
  mode: 'review',
  origin: null
};

/** What the user is writing, and the earlier tasks. */
export class Draft {
  get value(): IDraft {
    return this._value;
  }

  /** Earlier tasks, newest first. */
  get history(): ReadonlyArray<string> {
    return this._history;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Restore what was written before the page was reloaded. */
  async restore(store: IStore, key: string): Promise<void> {
    const saved = (await store.fetch(key)) as Partial<ISavedDraft> | undefined;
    if (isTexts(saved?.history)) {
      this._history = saved.history;
    }
    // Text typed while the store was loading is newer.
    const isRestored = !this._value.task && saved && typeof saved === 'object';
    if (isRestored) {
      this._value = { ...this._value, ...restored(saved) };
      const others = Object.entries(saved.others ?? {});
      this._stashes = new Map(others.map(([path, one]) => [path, restoredStash(one)]));
    }
    const [here, before] = [this._notebook, saved?.notebook];
    this._notebook = isRestored && typeof before === 'string' ? before : here;
    this._save = () => {
      const { check, origin, task } = this._value;
      const picked = Object.fromEntries(PICKS.map(kind => [kind, [...this._own(kind)]]));
      const kept = { task, check, origin: origin && { ...origin }, ...picked };
      const notebook = this._notebook;
      const others = Object.fromEntries(
        [...this._stashes]
          .filter(([_, { bring, cells, origin }]) => bring.length || cells.length || origin)
          .map(([path, { bring, cells, origin }]) => [
            path,
            { bring: [...bring], cells: [...cells], origin: origin && { ...origin } }
          ])
      );
      void store.save(key, { ...kept, notebook, others, history: [...this._history] });
    };
    this.visit(here);
    this._changed.emit();
  }

  update(values: Partial<IDraft>): void {
    for (const kind of PICKS) {
      const picked = values[kind];
      if (picked) {
        const taken = this._value[kind].filter(one => !picked.includes(one));
        const declined = [...this._declined[kind], ...taken].filter(one => !picked.includes(one));
        this._declined = { ...this._declined, [kind]: declined };
      }
    }
    this._value = { ...this._value, ...values };
    this._save();
    this._changed.emit();
  }

  /** Take over the mode from the settings, unless the user has chosen another here since. */
  follow(mode: IDraft['mode']): void {
    if (this._value.mode === this._usualMode && mode !== this._usualMode) {
      this.update({ mode });
    }
    this._usualMode = mode;
  }

  /**
   * Put aside what was picked in the notebook before, until the user comes back to it. Notebooks go
   * by their paths: while a page is restored, each of them is visited in turn.
   */
  visit(notebook: string | null): void {
    const before = this._notebook;
    if (!notebook || notebook === before) {
      return;
    }
    this._notebook = notebook;
    if (before) {
      const [cells, bring] = [this._own('cells'), this._own('bring')];
      this._stashes.set(before, {
        cells,
        bring,
        origin: this._value.origin,
        declined: this._declined
      });
      const { declined, ...own } = this._stashes.get(notebook) ?? NO_STASH;
      this._value = { ...this._value, ...own };
      this._suggested = { ...NO_PICKS, libraries: this._suggested.libraries };
      this._declined = { ...declined, libraries: this._declined.libraries };
      this._save();
      this._changed.emit();
    }
  }

  /** Follow the notebook of the picks to where it was moved. */
  move(notebook: string): void {
    this._notebook = notebook;
    this._save();
  }

  /** Start over from a cell, and forget what was picked for another task. */
  begin(values: Partial<IDraft>): void {
    const { mode, check, task } = this._value;
    const libraries = this._own('libraries');
    if (task.trim() && values.task !== task) {
      this._history = this._remembered(task);
    }
    this._suggested = this._declined = NO_PICKS;
    this._stashes = new Map();
    this._value = { ...EMPTY, libraries, mode, check, ...values };
    this._save();
    this._changed.emit();
  }

  /** Replace the earlier suggestions with new ones; the user's own choices take precedence. */
  suggest(suggestions: Picks | Pick<Suggestions, keyof Picks>): void {
    const before = this._value;
    const picks = { ...NO_PICKS };
    for (const kind of PICKS) {
      const own = before[kind].filter(one => !this._suggested[kind].includes(one));
      const others = suggestions[kind].filter(one => !this._declined[kind].includes(one));
      picks[kind] = Array.from(new Set([...own, ...others]));
      this._suggested = {
        ...this._suggested,
        [kind]: others.filter(one => !own.includes(one))
      };
    }
    if (PICKS.some(kind => picks[kind].join('\n') !== before[kind].join('\n'))) {
      this._value = { ...before, ...picks };
      this._save();
      this._changed.emit();
    }
  }

  /**
   * Add the task to the history, and start over with the same libraries. What it returns brings the
   * task back, unless something was typed or picked since.
   */
  submit(): () => void {
    const before = {
      _value: this._value,
      _suggested: this._suggested,
      _declined: this._declined,
      _history: this._history,
      _notebook: this._notebook,
      _stashes: this._stashes
    };
    const { task, mode } = this._value;
    const libraries = this._own('libraries');
    this._history = this._remembered(task);
    this._value = { ...EMPTY, libraries, mode };
    this._suggested = this._declined = NO_PICKS;
    this._stashes = new Map();
    const left = this._chosen();
    this._save();
    this._changed.emit();
    return () => {
      const { mode } = this._value;
      if (this._chosen() === left) {
        const notebook = this._notebook;
        Object.assign(this, before, { _value: { ...before._value, mode } });
        this.visit(notebook);
        this._save();
        this._changed.emit();
      }
    };
  }

  /** The request, for a notebook or none. */
  request(place: IPlace | null, choices: IChoices): NewExploration {
    const { bring, cells, check, libraries, mode, origin, task } = this._value;
    const picked = place?.cells.filter(cell => cells.includes(cell.id)) ?? [];
    return {
      task: task.trim(),
      libraries: [...libraries],
      context: picked.map(cell => cell.source).join('\n\n'),
      check,
      path: place?.path ?? '',
      kernel_name: place?.kernelName ?? null,
      kernel_id: bring.length ? (place?.kernelId ?? null) : null,
      bring: [...bring],
      origin,
      mode,
      ...choices
    };
  }

  /** What the user chose; suggestions belong to one task in one notebook. */
  private _own(kind: keyof Picks): ReadonlyArray<string> {
    return this._value[kind].filter(one => !this._suggested[kind].includes(one));
  }

  /** What the user typed and chose, to be compared. */
  private _chosen(): string {
    const { check, origin, task } = this._value;
    const picked = PICKS.map(kind => this._own(kind));
    return JSON.stringify([task.trim(), check.trim(), origin, picked]);
  }

  private _remembered(task: string): ReadonlyArray<string> {
    return [task, ...this._history.filter(one => one !== task)].slice(0, MAX_HISTORY);
  }

  private _value = EMPTY;
  private _usualMode = EMPTY.mode;
  private _suggested = NO_PICKS;
  private _declined = NO_PICKS;
  // The notebook that the picks belong to, and what was picked in others.
  private _notebook: string | null = null;
  private _stashes = new Map<string, IStash>();
  private _history: ReadonlyArray<string> = [];
  private _save: () => void = () => undefined;
  private _changed = new Signal<this, void>(this);
}

interface ISavedDraft extends Omit<IDraft, 'mode'> {
  notebook: string | null;
  others: { [path: string]: Partial<ISavedDraft> | null };
  history: string[];
}

/** The usable parts of a saved draft. */
function restored(saved: Partial<ISavedDraft>): Partial<IDraft> {
  const { check, origin, task } = saved;
  const isOrigin = typeof origin?.cell_id === 'string' && typeof origin.is_replaced === 'boolean';
  const picks = PICKS.map(kind => [kind, isTexts(saved[kind]) ? saved[kind] : []]);
  return {
    ...(Object.fromEntries(picks) as Picks),
    task: typeof task === 'string' ? task : '',
    check: typeof check === 'string' ? check : '',
    origin: isOrigin ? origin : null
  };
}

function restoredStash(saved: Partial<ISavedDraft> | null): IStash {
  const { bring = [], cells = [], origin = null } = restored(saved ?? {});
  return { bring, cells, origin, declined: NO_PICKS };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(one => typeof one === 'string');
}
