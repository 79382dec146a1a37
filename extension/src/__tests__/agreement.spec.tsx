import { Dialog } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { withAgreement } from '../agreement';
import { Preview } from '../protocol';
import { RequestError } from '../request';

const trans = nullTranslator.load('jupyterlab');

function preview(values: Partial<Preview> = {}): Preview {
  return {
    cells: 1,
    code: 'import tealeaf',
    check: false,
    libraries: ['tealeaf'],
    python: '/usr/bin/python',
    reads: ['/home/jo/tea'],
    sandbox: 'strict',
    variables: [],
    warning: '',
    digest: 'first',
    ...values
  };
}

function refusal(shown: Preview): RequestError {
  return new RequestError('not made here', 409, { message: 'not made here', preview: shown });
}

/** The next dialog, once its code has been drawn. */
async function dialog(): Promise<Dialog<unknown>> {
  for (;;) {
    const [found] = Array.from(Dialog.tracker.filter(one => one.isVisible));
    if (found?.node.textContent?.includes(preview().code)) {
      return found;
    }
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

describe('withAgreement', () => {
  it('asks nothing where nothing is refused', async () => {
    await expect(withAgreement(trans, 'tea.ipynb', async () => 'done')).resolves.toBe('done');
  });

  it('shows what would run and be read, and sends back what was agreed to', async () => {
    const asked: string[] = [];
    const answer = withAgreement(trans, 'tea.ipynb', async agreed => {
      asked.push(agreed);
      if (!agreed) {
        throw refusal(preview({ warning: 'it deletes files' }));
      }
      return 'done';
    });
    const shown = await dialog();
    const text = shown.node.textContent;
    shown.resolve(1);

    await expect(answer).resolves.toBe('done');
    expect(asked).toEqual(['', 'first']);
    for (const part of ['import tealeaf', '/usr/bin/python', '/home/jo/tea', 'it deletes files']) {
      expect(text).toContain(part);
    }
  });

  it('runs nothing when the user says no', async () => {
    const asked: string[] = [];
    const answer = withAgreement(trans, 'tea.ipynb', async agreed => {
      asked.push(agreed);
      throw refusal(preview());
    });
    (await dialog()).reject();

    await expect(answer).resolves.toBeNull();
    expect(asked).toEqual(['']);
  });

  it('passes on every other refusal', async () => {
    const gone = new RequestError('gone', 404);

    await expect(withAgreement(trans, 'tea.ipynb', () => Promise.reject(gone))).rejects.toBe(gone);
  });
});
