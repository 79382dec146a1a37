/*
 * What travels between the server and the front end. Made from exploracoder_jupyter/protocol.py:
 * change that, then say `npm run types`.
 */

export type Command =
  | GoOn
  | SetMode
  | AddSubtask
  | RenameSubtask
  | DeleteSubtask
  | RestoreSubtask
  | MoveSubtask
  | Skip
  | Replan
  | Accept
  | Debug
  | Draft
  | TryCode
  | GoBack
  | Synthesize
  | Cancel;
export type ServerMessage = ExplorationEvent | LibraryEvent | StreamEvent | ResetEvent;

export interface Accept {
  kind: 'accept';
  subtask: string;
  candidate?: string | null;
}
export interface Accepted {
  number: number;
}
export interface AddSubtask {
  kind: 'add_subtask';
  goal: string;
  before?: string | null;
}
export interface ApiDoc {
  path: string;
  kind: 'module' | 'class' | 'function' | 'method' | 'property' | 'attribute' | 'operation';
  library: string;
  signature: string;
  summary: string;
  doc: string;
  examples: string[];
  aliases: string[];
  notes: string[];
  file: string | null;
  line: number | null;
  url: string | null;
  mentions: Mention[];
  uses: number;
}
export interface Mention {
  kind: 'example' | 'test' | 'text';
  text: string;
  title: string;
  file: string | null;
  line: number | null;
  url: string | null;
  missing: string[];
}
export interface Attempt {
  code: string;
  observation: Observation;
  check_observation: Observation | null;
  checks: 'passed' | 'failed' | 'none';
  call: ExampleCall | null;
  added_imports: string[];
  problems: NameProblem[];
  notes: string[];
  searches: Search[];
  docs: ApiDoc[];
  only_defines: boolean;
}
export interface Observation {
  status: 'ok' | 'error' | 'timeout' | 'killed' | 'interrupted' | 'limit';
  stdout: string;
  stderr: string;
  result: string | null;
  outputs: {
    [k: string]: unknown;
  }[];
  error: ErrorReport | null;
  variables: Variable[];
  seconds: number;
  is_truncated: boolean;
  limits_hit: string[];
  execution_count: number | null;
  payloads: {
    [k: string]: unknown;
  }[];
  user_expressions: {
    [k: string]: unknown;
  };
  note: string;
}
export interface ErrorReport {
  ename: string;
  evalue: string;
  traceback: string[];
  line: number | null;
}
export interface Variable {
  name: string;
  type: string;
  preview: string;
  length: number | null;
  shape: number[] | null;
  is_lazy: boolean;
  preview_error: string | null;
}
export interface ExampleCall {
  code: string;
  called: string;
  observation: Observation;
}
export interface NameProblem {
  name: string;
  owner: string;
  nearest: string[];
}
export interface Search {
  line: number | null;
  query: string;
  answer: string;
  note: string;
}
export interface Brought {
  variables: BroughtVariable[];
  left: LeftVariable[];
}
export interface BroughtVariable {
  name: string;
  type: string;
}
export interface LeftVariable {
  name: string;
  type: string;
  reason: string;
}
export interface Cancel {
  kind: 'cancel';
}
export interface Candidate {
  id: string;
  code: string;
  origin: 'draft' | 'debug' | 'user';
  debug_of: string | null;
  added_imports: string[];
  problems: NameProblem[];
  apis: string[];
  observation: Observation | null;
}
export interface CellError {
  name: string;
  message: string;
  traceback: string;
}
export interface CellOrigin {
  cell_id: string;
  is_replaced: boolean;
}
export interface CellsChange {
  cells: {
    [k: string]: unknown;
  }[];
  order: string[] | null;
}
export interface Change {
  fields: {
    [k: string]: unknown;
  };
  steps: Step[];
  order: string[] | null;
  progress: Progress | null;
  abilities: {
    [k: string]: (
      | 'go_on'
      | 'synthesize'
      | 'cancel'
      | 'insert'
      | 'add_subtask'
      | 'rename_subtask'
      | 'delete_subtask'
      | 'move_subtask'
      | 'skip'
      | 'replan'
      | 'draft'
      | 'try_code'
      | 'go_back'
      | 'accept'
      | 'debug'
    )[];
  };
}
export interface Step {
  subtask: Subtask;
  status: 'pending' | 'review' | 'done' | 'failed' | 'skipped';
  recommendation: Recommendation;
  candidates: Candidate[];
  chosen: string | null;
}
export interface Subtask {
  id: string;
  goal: string;
}
export interface Recommendation {
  apis: RankedApi[];
}
export interface RankedApi {
  doc: ApiDoc;
  score: number;
  is_kept: boolean;
}
export interface Progress {
  activity: 'idle' | 'working' | 'review';
  mode: 'auto' | 'review';
  part: string;
  message: string;
  error: string;
  message_parts: TextParts;
  error_parts: TextParts1;
}
export interface TextParts {
  template: string;
  values: string[];
}
export interface TextParts1 {
  template: string;
  values: string[];
}
export interface GoOn {
  kind: 'go_on';
}
export interface SetMode {
  kind: 'set_mode';
  mode: 'auto' | 'review';
}
export interface RenameSubtask {
  kind: 'rename_subtask';
  subtask: string;
  goal: string;
}
export interface DeleteSubtask {
  kind: 'delete_subtask';
  subtask: string;
}
export interface RestoreSubtask {
  kind: 'restore_subtask';
  subtask: string;
}
export interface MoveSubtask {
  kind: 'move_subtask';
  subtask: string;
  before?: string | null;
}
export interface Skip {
  kind: 'skip';
  subtask: string;
}
export interface Replan {
  kind: 'replan';
  subtask: string;
}
export interface Debug {
  kind: 'debug';
  subtask: string;
  candidate?: string | null;
  hint?: string;
}
export interface Draft {
  kind: 'draft';
  subtask: string;
  hint?: string;
}
export interface TryCode {
  kind: 'try_code';
  subtask: string;
  code: string;
}
export interface GoBack {
  kind: 'go_back';
  subtask: string;
}
export interface Synthesize {
  kind: 'synthesize';
}
export interface DocEntry {
  name: string;
  type: string;
  text: string;
}
export interface DocPage {
  text: string;
  parts: DocPart[];
}
export interface DocPart {
  kind: 'parameters' | 'attributes' | 'returns' | 'yields' | 'raises';
  entries: DocEntry[];
}
export interface DocRequest {
  name: string;
  doc: string;
}
export interface EmbeddedModel {
  name: string;
  license: string;
  size_bytes: number;
  is_there: boolean;
  is_pulling: boolean;
  done_bytes: number;
  note: string;
  error: string;
}
export interface Example {
  title: string;
  code: string;
}
export interface Exploration {
  schema_version: number;
  id: string;
  created: string;
  task: Task;
  settings: Settings;
  method: string;
  seed: number;
  choice: ModelChoice;
  model: string;
  python: string;
  strategy: string;
  sandbox: string;
  brought: Brought;
  libraries: Library[];
  prompts: {
    [k: string]: string;
  };
  steps: Step[];
  is_planned: boolean;
  overall: Recommendation;
  written: Written;
  solution: Solution | null;
  status: 'running' | 'waiting' | 'paused' | 'solved' | 'unverified' | 'failed' | 'cancelled';
  reason: string;
  spending: Spending[];
  seconds_total: number;
}
export interface Task {
  text: string;
  libraries: string[];
  context: string;
  check: string;
  entry_point: string | null;
  stub: string;
  target: Target | null;
}
export interface Target {
  root: string;
  file: string;
}
export interface Settings {
  profile: 'standard' | 'paper' | 'small';
  few_shot_plans: number;
  max_subtasks: number;
  example_arguments: boolean;
  retrieved_apis: number;
  shown_apis: number;
  overall_apis: number;
  shown_examples: number;
  memory: boolean;
  sift: boolean;
  rerank: 'model' | 'none';
  candidates: number;
  temperature: number;
  top_p: number;
  candidate_style: 'live' | 'self_contained';
  stop_at_first: boolean;
  self_debug: boolean;
  debug_rounds: number;
  backtracks: number;
  selection: 'random' | 'evidence' | 'any';
  repair_names: boolean;
  existing_names: boolean;
  name_hints: boolean;
  first_tries: number;
  compose: boolean;
  solution_attempts: number;
  sample_tokens: number | null;
  repair_rounds: number;
  oracle_calls: number;
  prompt_chars: number;
  cells: boolean;
  looks: number;
  write_tokens: number;
  doc_chars: number;
  source_chars: number;
  tool_chars: number;
  output_chars: number;
  step_tokens: number;
  solution_tokens: number;
  run_seconds: number;
  functions: 'off' | 'repairs' | 'always';
  turns: number;
  search_calls: 'auto' | 'text' | 'functions';
  web_search: string;
  web_sites: string;
  max_seconds: number | null;
  max_tokens: number | null;
}
export interface ModelChoice {
  name: string;
  base_url: string;
}
export interface Library {
  name: string;
  import_name: string;
  version: string;
  apis: number;
  summary: string;
  examples: Example[];
}
export interface Written {
  solution: string;
  calls: string;
  cells: number;
}
export interface Solution {
  attempts: Attempt[];
  apis: string[];
}
export interface Spending {
  part: string;
  usage: Usage;
  seconds_execution: number;
}
export interface Usage {
  calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  seconds: number;
}
export interface ExplorationEvent {
  kind: 'exploration';
  number: number;
  id: string;
  revision: number;
  path: string;
  kernel_id: string;
  state: 'open' | 'changed' | 'closed';
  change: Change;
  cells: CellsChange;
  warning: string;
}
export interface Explorations {
  explorations: Summary[];
}
export interface Summary {
  id: string;
  path: string;
  task: string;
  status: string;
  created: string;
  steps: number;
  done: number;
  libraries: string[];
  is_open: boolean;
  progress: Progress | null;
}
export interface IndexRequest {
  target: string;
  kernel_name?: string | null;
}
export interface IndexedLibrary {
  target: string;
  name: string;
  import_name: string;
  version: string;
  apis: number;
}
export interface InstalledLibrary {
  name: string;
  import_name: string;
  version: string;
  is_indexed: boolean;
}
export interface Libraries {
  python: string;
  libraries: InstalledLibrary[];
}
export interface LibraryEvent {
  kind: 'library';
  number: number;
  target: string;
  message: string;
  is_done: boolean;
  error: string;
}
export interface LibraryLookup {
  kind: 'class' | 'signature' | 'source' | 'code';
  text: string;
  /**
   * @minItems 1
   * @maxItems 20
   */
  libraries: string[];
  kernel_name?: string | null;
}
export interface LocalServer {
  title: string;
  base_url: string;
  models: string[];
}
export interface LookedUp {
  library: string;
  name: string;
  text: string;
  place: string;
  file: string | null;
  line: number;
}
export interface Lookup {
  kind: 'class' | 'signature' | 'source' | 'code';
  text: string;
}
export interface LookupAnswer {
  found: LookedUp[];
  left_out: number;
  problems: string[];
  skipped: number;
}
export interface ModelGone {
  message: string;
  gone: ModelChoice;
}
export interface Models {
  embedded: EmbeddedModel;
  servers: LocalServer[];
}
export interface NewExploration {
  task: string;
  /**
   * @maxItems 20
   */
  libraries: string[];
  context?: string;
  check?: string;
  path?: string;
  kernel_name?: string | null;
  kernel_id?: string | null;
  /**
   * @maxItems 200
   */
  bring?: string[];
  origin?: CellOrigin | null;
  mode?: 'auto' | 'review';
  model?: ModelChoice;
  profile?: string | null;
  settings?: {
    [k: string]: unknown;
  };
}
export interface NotebookSave {
  path: string;
  content: {
    [k: string]: unknown;
  };
  base?: {
    [k: string]: string;
  };
}
export interface OpenExploration {
  exploration: Exploration;
  path: string;
  kernel_id: string;
  revision: number;
  progress: Progress;
  abilities: {
    [k: string]: (
      | 'go_on'
      | 'synthesize'
      | 'cancel'
      | 'insert'
      | 'add_subtask'
      | 'rename_subtask'
      | 'delete_subtask'
      | 'move_subtask'
      | 'skip'
      | 'replan'
      | 'draft'
      | 'try_code'
      | 'go_back'
      | 'accept'
      | 'debug'
    )[];
  };
  number: number;
  epoch: string;
  cells: {
    [k: string]: unknown;
  }[];
  resumed: boolean;
  warning: string;
  source_path: string;
  origin: CellOrigin | null;
}
export interface OpenRequest {
  path: string;
  agreed?: string;
  model?: ModelChoice | null;
}
export interface Preview {
  cells: number;
  code: string;
  check: boolean;
  libraries: string[];
  python: string;
  reads: string[];
  sandbox: string;
  variables: string[];
  warning: string;
  digest: string;
}
export interface Replayed {
  path: string;
  versions: VersionChange[];
  cells: ReplayedCell[];
}
export interface VersionChange {
  library: string;
  before: string;
  now: string;
}
export interface ReplayedCell {
  cell: string;
  goal: string;
  result: 'same' | 'changed' | 'failed';
  before: string;
  now: string;
  versions: VersionChange[];
}
export interface ResetEvent {
  kind: 'reset';
  number: number;
  epoch: string;
}
export interface SavedNotebook {
  path: string;
  created: string;
  last_modified: string;
  writable: boolean;
  size: number | null;
  change: CellsChange;
}
export interface SearchResults {
  apis: RankedApi[];
}
export interface StreamEvent {
  kind: 'stream';
  id: string;
  part: string;
  text: string;
  seconds: number;
}
export interface ServerStatus {
  version: string;
  epoch: string;
  number: number;
  model: string;
  model_url: string;
  model_error: string;
  is_embedded: boolean;
  embedded: EmbeddedModel;
  sandbox: string;
  is_sandboxed: boolean;
  profiles: {
    [k: string]: Settings;
  };
  default_profile: string;
  roots: string[];
  shows_hidden: boolean;
}
export interface SourceCell {
  id: string;
  source: string;
}
export interface SuggestionRequest {
  task?: string;
  cells?: SourceCell[];
  variables?: string[];
  path?: string;
  kernel_name?: string | null;
  cell_id?: string;
  error?: CellError | null;
}
export interface Suggestions {
  bring: string[];
  cells: string[];
  libraries: string[];
  task: string;
}
export interface TextParts2 {
  template: string;
  values: string[];
}
export interface Untrusted {
  message: string;
  preview: Preview;
}
