import * as nbformat from '@jupyterlab/nbformat';
import { Token } from '@lumino/coreutils';
import { ISignal } from '@lumino/signaling';
import { Ability } from './actions';
import { Draft } from './draft';
import { ModelChoices } from './modelchoice';
import {
  CellOrigin,
  Change,
  Command,
  Exploration,
  IndexedLibrary,
  Libraries,
  Lookup,
  LookupAnswer,
  ModelChoice,
  NewExploration,
  OpenExploration,
  Progress,
  Replayed,
  SearchResults,
  ServerStatus,
  StreamEvent,
  SuggestionRequest,
  Suggestions,
  Summary
} from './protocol';

/** An exploration with a session on the server, as this tab knows it. */
export interface IExplorationModel {
  readonly id: string;
  /** The path of its notebook, relative to the server's root. */
  readonly path: string;
  /** The sidecar's kernel. */
  readonly kernelId: string;
  readonly revision: number;
  readonly exploration: Exploration;
  readonly progress: Progress;
  /** The server's cells in its notebook. */
  readonly cells: ReadonlyArray<nbformat.ICell>;
  /** What can be done, by subtask or candidate id; '' stands for the exploration. */
  readonly abilities: OpenExploration['abilities'];
  /** Whether an action is possible now for the exploration, a subtask or a candidate. */
  can(ability: Ability, subtask?: string | null, candidate?: string | null): boolean;
  /** What the user should know before inserting the solution; empty if it only computes. */
  readonly warning: string;
  /** The user's notebook that it was started from; empty if none, or unknown. */
  readonly sourcePath: string;
  /** The cell of that notebook, if any. */
  readonly origin: CellOrigin | null;
  /** False once its session has ended on the server. */
  readonly isOpen: boolean;
  /** Emitted after each change; the argument is null when everything may have changed. */
  readonly changed: ISignal<IExplorationModel, Change | null>;
  /** What the model is writing; null while it writes nothing. */
  readonly stream: StreamEvent | null;
  /** Emitted while it is writing, and once it has finished. */
  readonly streamed: ISignal<IExplorationModel, void>;
  /** Send a command. Rejects with the server's message if it is refused. */
  do(command: Command): Promise<void>;
}

export type LookupKind = Lookup['kind'];

/** Whose source to look into: an exploration's libraries, or the named ones. */
export type LookupScope =
  | { readonly id: string }
  | { readonly libraries: ReadonlyArray<string>; readonly kernelName: string | null };

/** The outcome of a question; neither answer nor error while pending. */
export interface ILookupOutcome {
  readonly isAsking: boolean;
  readonly answer: LookupAnswer | null;
  readonly error: string;
}

/** A request to look something up; omitted values stay as they are. */
export interface ILookupWish {
  readonly kind?: LookupKind;
  readonly text?: string;
}

/** What the user looks up in the source of libraries. */
export interface ILookups {
  readonly kind: LookupKind;
  readonly text: string;
  readonly isOpen: boolean;
  /** How often `want` was called. */
  readonly wishes: number;
  /** Whether that was just now, so that the focus belongs here. */
  readonly isWanted: boolean;
  /** Whether a question was passed in but not asked yet. */
  readonly isDue: boolean;
  readonly changed: ISignal<ILookups, void>;
  update(values: Partial<Pick<ILookups, 'kind' | 'text' | 'isOpen'>>): void;
  /** Lead the user here. */
  want(wish: ILookupWish): void;
  /** Ask the typed question; a pending answer to an earlier one is dropped. */
  ask(scope: LookupScope): Promise<void>;
  /** The outcome of the last question; null if it was asked in another scope. */
  outcome(scope: LookupScope): ILookupOutcome | null;
}

/** All explorations of this server, and what they start from. */
export interface IExplorations {
  /** Null until the server has answered. */
  readonly status: ServerStatus | null;
  /** Whether events arrive: false while reconnecting. */
  readonly isConnected: boolean;
  readonly open: ReadonlyMap<string, IExplorationModel>;
  readonly past: ReadonlyArray<Summary>;
  /** What the sidebar shows. */
  readonly current: IExplorationModel | null;
  readonly changed: ISignal<IExplorations, void>;
  start(request: NewExploration): Promise<IExplorationModel>;
  /** For a notebook from elsewhere, rejects with what would run until the user agrees. */
  resume(path: string, agreed?: string, model?: ModelChoice | null): Promise<IExplorationModel>;
  /** Rejects as `resume` does. */
  replay(path: string, agreed?: string): Promise<Replayed>;
  close(id: string): Promise<void>;
  /** Select an exploration; null for the form of a new one. */
  show(id: string | null): void;
  forPath(path: string): IExplorationModel | null;
  libraries(kernelName: string | null): Promise<Libraries>;
  indexLibrary(target: string, kernelName: string | null): Promise<IndexedLibrary>;
  search(query: string, libraries: ReadonlyArray<string>): Promise<SearchResults>;
  /** Suggests what a task takes along from the user's notebook. */
  suggestions(request: SuggestionRequest): Promise<Suggestions>;
  readonly lookups: ILookups;
  /** The model of the next exploration. */
  readonly models: ModelChoices;
  /** The form for a new exploration. */
  readonly draft: Draft;
}

/** The service that other extensions may use too. */
export const IExplorations = new Token<IExplorations>(
  'exploracoder:IExplorations',
  'Explorations of this server: start, follow, steer and resume them.'
);
