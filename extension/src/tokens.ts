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

/** An exploration whose session lives in the server, as this tab knows it. */
export interface IExplorationModel {
  readonly id: string;
  /** The path of its notebook, relative to the server's root. */
  readonly path: string;
  /** The sidecar's kernel. */
  readonly kernelId: string;
  readonly revision: number;
  readonly exploration: Exploration;
  readonly progress: Progress;
  /** The cells of its notebook that are its own. */
  readonly cells: ReadonlyArray<nbformat.ICell>;
  /** What can be done, by the ids of subtasks and candidates, and '' for the exploration. */
  readonly abilities: OpenExploration['abilities'];
  /** Whether something can be done now with the exploration, a subtask or a candidate of it. */
  can(ability: Ability, subtask?: string | null, candidate?: string | null): boolean;
  /** What the solution does that who takes it over should know; empty when it only computes. */
  readonly warning: string;
  /** The cell of the user's notebook that it began in, if it did. */
  readonly origin: CellOrigin | null;
  /** False once its session has ended in the server. */
  readonly isOpen: boolean;
  /** Emitted after each change; the argument is null when everything may have changed. */
  readonly changed: ISignal<IExplorationModel, Change | null>;
  /** What the model is writing; null while it writes nothing. */
  readonly stream: StreamEvent | null;
  /** Emitted as it goes on writing, and when that has ended. */
  readonly streamed: ISignal<IExplorationModel, void>;
  /** Send a command. Rejects with the server's message when it cannot be taken. */
  do(command: Command): Promise<void>;
}

export type LookupKind = Lookup['kind'];

/** Whose source is looked into: an exploration's libraries', or those' that are named. */
export type LookupScope =
  | { readonly id: string }
  | { readonly libraries: ReadonlyArray<string>; readonly kernelName: string | null };

/** What came of a question; neither answer nor error while it is asked. */
export interface ILookupOutcome {
  readonly isAsking: boolean;
  readonly answer: LookupAnswer | null;
  readonly error: string;
}

/** What somebody wants to look up; what is left out stays as it is. */
export interface ILookupWish {
  readonly kind?: LookupKind;
  readonly text?: string;
}

/** What the user looks up in the source of libraries. */
export interface ILookups {
  readonly kind: LookupKind;
  readonly text: string;
  readonly isOpen: boolean;
  /** How often somebody was led here. */
  readonly wishes: number;
  /** Whether that was a moment ago, so that the focus belongs here. */
  readonly isWanted: boolean;
  /** Whether a question came along that nobody has asked yet. */
  readonly isDue: boolean;
  readonly changed: ISignal<ILookups, void>;
  update(values: Partial<Pick<ILookups, 'kind' | 'text' | 'isOpen'>>): void;
  /** Lead the user here. */
  want(wish: ILookupWish): void;
  /** Ask what is typed; an answer to an earlier question is not waited for any more. */
  ask(scope: LookupScope): Promise<void>;
  /** What came of the last question; null when it was asked of something else. */
  outcome(scope: LookupScope): ILookupOutcome | null;
}

/** All explorations of this server, and what they are made from. */
export interface IExplorations {
  /** Null until the server has answered. */
  readonly status: ServerStatus | null;
  /** Whether events arrive: false while the connection is being made again. */
  readonly isConnected: boolean;
  readonly open: ReadonlyMap<string, IExplorationModel>;
  readonly past: ReadonlyArray<Summary>;
  /** What the sidebar shows. */
  readonly current: IExplorationModel | null;
  readonly changed: ISignal<IExplorations, void>;
  start(request: NewExploration): Promise<IExplorationModel>;
  /** Rejects, with what would run, for a notebook from elsewhere until that is agreed to. */
  resume(path: string, agreed?: string, model?: ModelChoice | null): Promise<IExplorationModel>;
  /** Rejects as `resume` does. */
  replay(path: string, agreed?: string): Promise<Replayed>;
  close(id: string): Promise<void>;
  /** Make one the current one; null for the form of a new one. */
  show(id: string | null): void;
  forPath(path: string): IExplorationModel | null;
  libraries(kernelName: string | null): Promise<Libraries>;
  indexLibrary(target: string, kernelName: string | null): Promise<IndexedLibrary>;
  search(query: string, libraries: ReadonlyArray<string>): Promise<SearchResults>;
  /** What a task takes along from the notebook that it is written beside. */
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
