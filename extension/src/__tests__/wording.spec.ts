import { nullTranslator } from '@jupyterlab/translation';
import { Attempt, Observation } from '../protocol';
import { finalAttempt, wordsOf, verificationWords } from '../wording';
import { candidate, exploration } from './samples';

const RAN = candidate('s1/1').observation!;
const FAILED: Observation = {
  ...RAN,
  status: 'error',
  error: { ename: 'ValueError', evalue: 'too cold', traceback: [], line: 1 }
};
const trans = nullTranslator.load('exploracoder');

/** An attempt whose code ran, with the given outcome of an example call. */
function attempt(code: string, called: Observation | null): Attempt {
  const call = called && {
    code: 'text = "a"\nexample_result = brew(text)',
    called: 'brew(text)',
    observation: called
  };
  return {
    code,
    observation: RAN,
    check_observation: null,
    checks: 'none',
    call,
    added_imports: [],
    problems: [],
    notes: [],
    searches: [],
    docs: [],
    only_defines: false
  };
}

function withAttempts(...attempts: Attempt[]) {
  return exploration({ solution: { attempts, apis: [] } });
}

describe('finalAttempt', () => {
  it('is the last one whose example call did not fail', () => {
    const made = withAttempts(attempt('a', RAN), attempt('b', RAN), attempt('c', FAILED));

    expect(finalAttempt(made)?.code).toBe('b');
  });

  it('is the last one that ran when all calls failed', () => {
    expect(finalAttempt(withAttempts(attempt('a', FAILED), attempt('b', FAILED)))?.code).toBe('b');
  });
});

describe('verificationWords', () => {
  it('says what the example call came to', () => {
    const value = { ...RAN.variables[0], name: 'x', type: 'Flow', preview_error: 'KeyError: 3' };
    const unreadable: Observation = { ...RAN, variables: [value] };

    expect(verificationWords(trans, withAttempts(attempt('a', RAN)))).toContain(
      'and the call brew(text) did, too'
    );
    expect(verificationWords(trans, withAttempts(attempt('a', FAILED)))).toContain(
      'but the call brew(text) failed: ValueError: too cold'
    );
    expect(verificationWords(trans, withAttempts(attempt('a', unreadable)))).toContain(
      'KeyError: 3'
    );
    expect(verificationWords(trans, withAttempts(attempt('a', null)))).not.toContain('call');
  });

  it('says that what was only defined was never called', () => {
    const defined = { ...attempt('def brew(): ...', null), only_defines: true };

    expect(verificationWords(trans, withAttempts(defined))).toContain('was never called');
  });
});

describe('wordsOf', () => {
  it.each([
    ['Exploring: %1', ['50 %1'], 'Exploring: 50 %1'],
    ['%1 comes before %2.', ['a', 'b'], 'a comes before b.'],
    ['Working', [], 'Working'],
    ['100 %1', [], '100 %1'],
    ['', [], '']
  ])('puts values into %j', (template, values, words) => {
    expect(wordsOf(trans, { template, values })).toBe(words);
  });
});
