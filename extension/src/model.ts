import * as nbformat from '@jupyterlab/nbformat';
import { ISignal, Signal } from '@lumino/signaling';
import { Ability } from './actions';
import {
  CellOrigin,
  CellsChange,
  Change,
  Command,
  Exploration,
  ExplorationEvent,
  OpenExploration,
  Progress,
  Step,
  StreamEvent
} from './protocol';
import { pathOf, queryOf, Requests } from './request';
import { IExplorationModel } from './tokens';

/** An exploration as this tab knows it, brought up to date by events. */
export class ExplorationModel implements IExplorationModel {
  constructor(
    opened: OpenExploration,
    private readonly _requests: Requests
  ) {
    this._opened = opened;
  }

  get id(): string {
    return this._opened.exploration.id;
  }

  get path(): string {
    return this._opened.path;
  }

  get kernelId(): string {
    return this._opened.kernel_id;
  }

  get revision(): number {
    return this._opened.revision;
  }

  get exploration(): Exploration {
    return this._opened.exploration;
  }

  get progress(): Progress {
    return this._opened.progress;
  }

  get cells(): ReadonlyArray<nbformat.ICell> {
    return this._opened.cells as unknown as nbformat.ICell[];
  }

  get abilities(): OpenExploration['abilities'] {
    return this._opened.abilities;
  }

  can(ability: Ability, subtask: string | null = null, candidate: string | null = null): boolean {
    // A solution can be inserted even after its session ended.
    const isThere = this._isOpen || ability === 'insert';
    const about = ['', subtask ?? '', candidate ?? ''];
    return isThere && about.some(id => this.abilities[id]?.includes(ability));
  }

  get warning(): string {
    return this._opened.warning;
  }

  get sourcePath(): string {
    return this._opened.source_path;
  }

  get origin(): CellOrigin | null {
    return this._opened.origin;
  }

  get isOpen(): boolean {
    return this._isOpen;
  }

  get changed(): ISignal<this, Change | null> {
    return this._changed;
  }

  get stream(): StreamEvent | null {
    return this._stream;
  }

  get streamed(): ISignal<this, void> {
    return this._streamed;
  }

  /** Take in what the model has written so far. */
  read(stream: StreamEvent | null): void {
    if (stream !== this._stream) {
      this._stream = stream;
      this._streamed.emit();
    }
  }

  /** Apply an event. One that was applied already changes nothing. */
  apply(event: ExplorationEvent): void {
    if (event.number <= this._opened.number) {
      return;
    }
    const { cells, change, kernel_id, number, path, revision, warning } = event;
    this._opened = {
      ...this._opened,
      number,
      path,
      kernel_id,
      revision,
      warning,
      cells: applyCells(this.cells, cells) as OpenExploration['cells'],
      exploration: applyChange(this.exploration, change),
      progress: change.progress ?? this.progress,
      abilities: { ...this.abilities, ...change.abilities }
    };
    // The text is in the steps now, or discarded.
    if (change.steps.length || this.progress.activity !== 'working') {
      this.read(null);
    }
    this._changed.emit(change);
  }

  /** Replace the state with the server's, unless newer events were applied already. */
  replace(opened: OpenExploration): void {
    const { epoch, number } = this._opened;
    if (opened.epoch === epoch && opened.number < number) {
      return;
    }
    this._opened = opened;
    this._isOpen = true;
    this.read(null);
    this._changed.emit(null);
  }

  /** Its server session has ended. */
  end(): void {
    this._isOpen = false;
    this.read(null);
    this._changed.emit(null);
  }

  async do(command: Command): Promise<void> {
    const seen = queryOf({ revision: `${this.revision}` });
    await this._requests.post(pathOf('explorations', this.id, 'command') + seen, command);
  }

  private _opened: OpenExploration;
  private _isOpen = true;
  private _stream: StreamEvent | null = null;
  private _streamed = new Signal<this, void>(this);
  private _changed = new Signal<this, Change | null>(this);
}

/** The exploration after a change. Unchanged parts stay the same objects. */
export function applyChange(before: Exploration, change: Change): Exploration {
  return {
    ...before,
    ...(change.fields as Partial<Exploration>),
    steps: changedSteps(before.steps, change)
  };
}

/** The cells after a change. Unchanged cells stay the same objects. */
export function applyCells(
  before: ReadonlyArray<nbformat.ICell>,
  { cells, order }: CellsChange
): nbformat.ICell[] {
  const byId = new Map(before.map(cell => [cell.id as string, cell]));
  for (const cell of cells as unknown as nbformat.ICell[]) {
    byId.set(cell.id as string, cell);
  }
  return order ? order.flatMap(id => byId.get(id) ?? []) : Array.from(byId.values());
}

function changedSteps(before: Step[], { steps, order }: Change): Step[] {
  if (!steps.length && !order) {
    return before;
  }
  const byId = new Map(before.map(step => [step.subtask.id, step]));
  for (const step of steps) {
    byId.set(step.subtask.id, step);
  }
  // An id in the order without a step is a step that is still to come.
  return order ? order.flatMap(id => byId.get(id) ?? []) : Array.from(byId.values());
}
