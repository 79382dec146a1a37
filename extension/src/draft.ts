import { ISignal, Signal } from '@lumino/signaling';
import { NewExploration } from './protocol';

const MAX_HISTORY = 50;

/** What the form for a new exploration holds. */
export interface IDraft {
  readonly task: string;
  readonly libraries: ReadonlyArray<string>;
  /** The ids of the notebook's cells that run first. */
  readonly cells: ReadonlyArray<string>;
  /** The names of the kernel's variables that come along. */
  readonly bring: ReadonlyArray<string>;
  readonly check: string;
  readonly mode: 'auto' | 'review';
}

/** The notebook that a new exploration belongs to. */
export interface IPlace {
  readonly path: string;
  readonly kernelName: string | null;
  readonly kernelId: string | null;
  readonly cells: ReadonlyArray<{ id: string; source: string }>;
}

/** The form's settings, which come from the settings editor. */
export interface IChoices {
  readonly profile: string | null;
  readonly settings: { [name: string]: unknown };
}

/** A place to keep what was written over a reload. */
export interface IStore {
  fetch(key: string): Promise<unknown>;
  save(key: string, value: unknown): Promise<unknown>;
}

const EMPTY: IDraft = {
  task: '',
  libraries: [],
  cells: [],
  bring: [],
  check: '',
  mode: 'review'
};

/** What the user is writing, and what was asked for before. */
export class Draft {
  get value(): IDraft {
    return this._value;
  }

  /** Earlier tasks, the newest first. */
  get history(): ReadonlyArray<string> {
    return this._history;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Put back what was written before the page was loaded again. */
  async restore(store: IStore, key: string): Promise<void> {
    const saved = (await store.fetch(key)) as Partial<ISaved> | undefined;
    if (isTexts(saved?.history)) {
      this._history = saved.history;
    }
    // What was typed while the store was asked is newer.
    if (!this._value.task && typeof saved?.task === 'string') {
      const libraries = isTexts(saved.libraries) ? saved.libraries : [];
      this._value = { ...this._value, task: saved.task, libraries };
    }
    this._save = () => {
      const { task, libraries } = this._value;
      void store.save(key, { task, libraries, history: this._history });
    };
    this._changed.emit();
  }

  update(values: Partial<IDraft>): void {
    this._value = { ...this._value, ...values };
    this._save();
    this._changed.emit();
  }

  /** Remember the task as asked for, and begin anew with the same libraries. */
  finish(): void {
    const { task, libraries, mode } = this._value;
    const others = this._history.filter(one => one !== task);
    this._history = [task, ...others].slice(0, MAX_HISTORY);
    this._value = { ...EMPTY, libraries, mode };
    this._save();
    this._changed.emit();
  }

  /** What to send, for a notebook or none. */
  request(place: IPlace | null, choices: IChoices): NewExploration {
    const { bring, cells, check, libraries, mode, task } = this._value;
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
      mode,
      profile: choices.profile,
      settings: choices.settings
    };
  }

  private _value = EMPTY;
  private _history: ReadonlyArray<string> = [];
  private _save: () => void = () => undefined;
  private _changed = new Signal<this, void>(this);
}

interface ISaved {
  task: string;
  libraries: string[];
  history: string[];
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(one => typeof one === 'string');
}
