import { Candidate, Exploration, OpenExploration, Settings, Step } from '../protocol';

/** A subtask's step, untouched by default. */
export function step(id: string, values: Partial<Step> = {}): Step {
  return {
    subtask: { id, goal: `goal of ${id}` },
    status: 'pending',
    recommendation: { apis: [] },
    candidates: [],
    chosen: null,
    ...values
  };
}

/** A candidate that ran. */
export function candidate(id: string, values: Partial<Candidate> = {}): Candidate {
  return {
    id,
    code: `print('${id}')`,
    origin: 'draft',
    debug_of: null,
    added_imports: [],
    problems: [],
    apis: [],
    observation: {
      status: 'ok',
      stdout: '',
      stderr: '',
      result: null,
      outputs: [],
      error: null,
      variables: [],
      seconds: 0.1,
      is_truncated: false,
      limits_hit: [],
      execution_count: 1,
      payloads: [],
      user_expressions: {},
      note: ''
    },
    ...values
  };
}

/** An exploration with a plan. */
export function exploration(values: Partial<Exploration> = {}): Exploration {
  return {
    schema_version: 6,
    id: 'e1',
    created: '2026-01-01T00:00:00Z',
    task: {
      text: 'brew tea',
      libraries: ['tealeaf'],
      context: '',
      check: '',
      entry_point: null,
      stub: '',
      target: null
    },
    settings: { profile: 'standard' } as Settings,
    choice: { name: '', base_url: '' },
    method: 'exploration',
    seed: 0,
    model: 'scripted',
    python: '',
    strategy: '',
    sandbox: '',
    brought: { variables: [], left: [] },
    libraries: [],
    prompts: {},
    steps: [step('s1'), step('s2'), step('s3')],
    is_planned: true,
    overall: { apis: [] },
    written: { solution: '', calls: '', cells: 0 },
    solution: null,
    status: 'waiting',
    reason: '',
    spending: [],
    seconds_total: 0,
    ...values
  };
}

/** An exploration open on the server. */
export function opened(values: Partial<OpenExploration> = {}): OpenExploration {
  return {
    exploration: exploration(),
    path: 'tea-exploration.ipynb',
    kernel_id: 'k1',
    revision: 5,
    progress: {
      activity: 'idle',
      mode: 'review',
      part: '',
      message: '',
      error: '',
      message_parts: { template: '', values: [] },
      error_parts: { template: '', values: [] }
    },
    abilities: {},
    number: 10,
    epoch: 'first',
    cells: [],
    resumed: false,
    warning: '',
    source_path: '',
    origin: null,
    ...values
  };
}
