import { allows, ISituation } from '../abilities';
import { Attempt, Candidate, Exploration, Observation, Step } from '../protocol';
import { solutionCode } from '../notebook/insert';
import { targetOf } from '../target';
import { IExplorationModel } from '../tokens';
import { opened } from './samples';

describe('allows', () => {
  it('accepts only what ran, in the first open subtask', () => {
    const now = situation([step('s1', 'review', 's1/1'), step('s2', 'pending', null)]);

    expect(allows(now, 'accept', 's1', 's1/1')).toBe(true);
    expect(allows(now, 'accept', 's1', 's1/2')).toBe(false);
    expect(allows(now, 'accept', 's2', 's2/1')).toBe(false);
  });

  it('accepts another candidate of a subtask that is done, not the same one again', () => {
    const now = situation([step('s1', 'done', 's1/1', ['ok', 'ok'])]);

    expect(allows(now, 'accept', 's1', 's1/1')).toBe(false);
    expect(allows(now, 'accept', 's1', 's1/2')).toBe(true);
  });

  it('takes nothing but a cancel while there is work', () => {
    const steps = [step('s1', 'review', 's1/1')];
    const now = { ...situation(steps), progress: progress('working') };

    expect(allows(now, 'cancel')).toBe(true);
    expect(allows(now, 'accept', 's1', 's1/1')).toBe(false);
    expect(allows(now, 'skip', 's1')).toBe(false);
    expect(allows(situation(steps), 'cancel')).toBe(false);
  });

  it('takes nothing once the session has ended', () => {
    const now = { ...situation([step('s1', 'review', 's1/1')]), isOpen: false };

    expect(allows(now, 'accept', 's1', 's1/1')).toBe(false);
    expect(allows(now, 'cancel')).toBe(false);
  });

  it('goes back only to what was decided', () => {
    const now = situation([step('s1', 'done', 's1/1'), step('s2', 'pending', null)]);

    expect(allows(now, 'go-back', 's1')).toBe(true);
    expect(allows(now, 'go-back', 's2')).toBe(false);
  });

  it('writes a solution once something is accepted', () => {
    expect(allows(situation([step('s1', 'pending', null)]), 'synthesize')).toBe(false);
    expect(allows(situation([step('s1', 'done', 's1/1')]), 'synthesize')).toBe(true);
  });
});

describe('insert', () => {
  const attempt = (status: string, checks: string) =>
    ({ code: '', observation: { status }, checks, call: null }) as unknown as Attempt;

  it.each([
    ['ok', 'passed', true],
    ['ok', 'none', true],
    ['ok', 'failed', false],
    ['error', 'none', false]
  ])('of a solution that ended as %s with its check %s: %s', (status, checks, isAllowed) => {
    const now = situation([]);
    const attempts = [attempt(status, checks)];
    const exploration = { ...now.exploration, solution: { attempts, apis: [] } };

    expect(allows({ ...now, exploration }, 'insert')).toBe(isAllowed);
    expect(solutionCode(exploration) !== null).toBe(isAllowed);
  });
});

describe('targetOf', () => {
  const steps = [step('s1', 'done', 's1/1'), step('s2', 'review', 's2/1')];
  const model = situation(steps) as unknown as IExplorationModel;

  it('means the subtask in review when nothing else is said', () => {
    expect(targetOf('accept', model, {}, null)?.subtask).toBe('s2');
  });

  it('means the cell that the user is at when it can be done there', () => {
    const at = { activeModel: model, activeSubtask: 's1', shown: () => null };

    expect(targetOf('go-back', model, {}, at)?.subtask).toBe('s1');
    expect(targetOf('accept', model, {}, at)?.subtask).toBe('s2');
  });

  it('means the candidate that is looked at', () => {
    const at = { activeModel: model, activeSubtask: null, shown: () => 's2/2' };

    expect(targetOf('debug', model, {}, at)?.candidate).toBe('s2/2');
  });

  it('means nothing else than what is asked for by name', () => {
    expect(targetOf('accept', model, { subtask: 's1' }, null)).toBe(null);
  });
});

function situation(steps: Step[]): ISituation {
  const exploration = { steps, is_planned: true, solution: null } as unknown as Exploration;
  return { exploration, progress: progress('review'), isOpen: true };
}

function progress(activity: 'working' | 'review'): ISituation['progress'] {
  return { ...opened().progress, activity };
}

function step(
  id: string,
  status: Step['status'],
  chosen: string | null,
  runs: Observation['status'][] = ['ok', 'error']
): Step {
  const candidates = runs.map(
    (status, index) =>
      ({ id: `${id}/${index + 1}`, code: '', observation: { status } }) as unknown as Candidate
  );
  return {
    subtask: { id, goal: `goal of ${id}` },
    status,
    chosen,
    candidates,
    recommendation: { apis: [] }
  };
}
