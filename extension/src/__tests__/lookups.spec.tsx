import { nullTranslator } from '@jupyterlab/translation';
import { createServer, IncomingMessage, Server, ServerResponse } from 'http';
import * as React from 'react';
import { Lookups } from '../lookups';
import { LibraryEvent, LookedUp, LookupAnswer } from '../protocol';
import { Requests } from '../request';
import { LookUp } from '../widgets/lookup';
import { ITools } from '../widgets/tools';
import { draw, pathOf, reply, requestsTo, until } from './waiting';

const KETTLE: LookedUp = {
  library: 'tealeaf',
  name: 'tealeaf.Kettle',
  text: 'class Kettle  # <img src=x onerror=alert(1)>',
  place: 'tealeaf/kettle.py',
  file: '/srv/tealeaf/kettle.py',
  line: 4
};
const SCOPE = { libraries: ['tealeaf'], kernelName: null };

/** A server that answers questions when a test says so. */
class Library {
  readonly asked: { path: string; body: object }[] = [];
  readonly waiting: ((status: number, answer: object) => void)[] = [];

  async listen(): Promise<Requests> {
    return requestsTo(this._http);
  }

  async close(): Promise<void> {
    await new Promise(resolve => this._http.close(resolve));
  }

  private _hear(request: IncomingMessage, response: ServerResponse): void {
    let text = '';
    request.on('data', part => (text += part));
    request.on('end', () => this._take(request, text, response));
  }

  private _take(request: IncomingMessage, text: string, response: ServerResponse): void {
    this.asked.push({ path: pathOf(request), body: JSON.parse(text) });
    this.waiting.push((status, answer) => reply(response, status, answer));
  }

  private _http: Server = createServer((request, response) => this._hear(request, response));
}

let library: Library;
let lookups: Lookups;

beforeEach(async () => {
  library = new Library();
  lookups = new Lookups(await library.listen());
});

afterEach(async () => {
  document.body.replaceChildren();
  await library.close();
});

describe('Lookups', () => {
  it('asks an exploration by its id, and the form by its libraries', async () => {
    lookups.update({ text: ' Kettle ' });

    void lookups.ask({ id: 'e1' });
    await until(() => library.waiting.length === 1);
    void lookups.ask({ libraries: ['tealeaf'], kernelName: 'python3' });
    await until(() => library.waiting.length === 2);
    library.waiting.forEach(answer => answer(200, found()));

    expect(library.asked).toEqual([
      { path: 'explorations/e1/lookups', body: { kind: 'class', text: 'Kettle' } },
      {
        path: 'lookups',
        body: { kind: 'class', text: 'Kettle', libraries: ['tealeaf'], kernel_name: 'python3' }
      }
    ]);
  });

  it('takes no late answer to an earlier question', async () => {
    lookups.update({ text: 'Pot' });
    const first = lookups.ask(SCOPE);
    await until(() => library.waiting.length === 1);
    lookups.update({ text: 'Kettle' });
    const second = lookups.ask(SCOPE);
    await until(() => library.waiting.length === 2);

    library.waiting[1](200, found(KETTLE));
    await second;
    library.waiting[0](200, found());
    await first;

    expect(lookups.outcome(SCOPE)?.answer?.found).toEqual([KETTLE]);
  });

  it('shows nothing of one exploration in another', async () => {
    lookups.update({ text: 'Kettle' });
    const asked = lookups.ask({ id: 'e1' });
    await until(() => library.waiting.length === 1);
    library.waiting[0](200, found(KETTLE));
    await asked;

    expect(lookups.outcome({ id: 'e1' })?.answer?.found).toEqual([KETTLE]);
    expect(lookups.outcome({ id: 'e2' })).toBeNull();
  });

  it('asks nothing of nobody while nothing is typed', async () => {
    lookups.update({ text: '  ' });

    await lookups.ask(SCOPE);

    expect(library.asked).toEqual([]);
    expect(lookups.outcome(SCOPE)).toBeNull();
  });
});

describe('LookUp', () => {
  it('is folded until somebody is led to it, who finds the focus in its field', async () => {
    const page = await drawn();
    const details = page.querySelector('details')!;
    expect(details.open).toBe(false);

    lookups.want({ kind: 'code' });
    expect(lookups.isWanted).toBe(true);
    // However long the page takes, it still is.
    jest.spyOn(lookups, 'isWanted', 'get').mockReturnValue(true);
    await until(() => details.open);
    await until(() => document.activeElement === field(page));

    expect(page.querySelector('select')!.value).toBe('code');
    expect(library.asked).toEqual([]);
  });

  it('asks at once what came along', async () => {
    await drawn();

    lookups.want({ kind: 'source', text: 'tealeaf.Kettle.pour' });
    await until(() => library.waiting.length === 1);
    library.waiting[0](200, found());

    expect(library.asked[0].body).toMatchObject({ kind: 'source', text: 'tealeaf.Kettle.pour' });
  });

  it('asks with Enter, which does not send the form that it stands in', async () => {
    const page = await drawn();
    lookups.update({ text: 'Kettle', isOpen: true });

    const isLeft = field(page).dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true })
    );
    await until(() => library.waiting.length === 1);
    library.waiting[0](200, found());

    expect(isLeft).toBe(false);
  });

  it('shows what was found as text, with a way to its source', async () => {
    const opened: unknown[] = [];
    const page = await drawn({ sourceOpener: source => () => void opened.push(source) });

    await answered(page, 200, found(KETTLE));
    await until(() => page.querySelector('pre')?.textContent === KETTLE.text);
    page.querySelector<HTMLElement>('.jp-exploracoder-source button')!.click();

    expect(page.querySelector('img')).toBeNull();
    expect(page.querySelector('.jp-exploracoder-source')?.textContent).toBe('tealeaf/kettle.py:4');
    expect(opened).toEqual([{ file: KETTLE.file, line: 4 }]);
    expect(status(page)).toBe('1 result');
  });

  it('names what is near where nothing was found', async () => {
    const problem = "There is no class 'Kettel' in /srv/tealeaf. The nearest: Kettle.";
    const page = await drawn();

    await answered(page, 200, { ...found(), problems: [problem], skipped: 2 });

    expect(status(page)).toBe('Nothing was found. · 2 files could not be read');
    expect(page.textContent).toContain(problem);
  });

  it('says in the server’s words why it refuses', async () => {
    const page = await drawn();

    await answered(page, 404, { message: 'No such exploration is open here.' });

    expect(page.querySelector('[role=alert]')!.textContent).toBe(
      'No such exploration is open here.'
    );
  });

  it('says how far reading a library is', async () => {
    const page = await drawn({}, { message: 'Reading the source: 51 of 200 files' });

    lookups.update({ text: 'Kettle' });
    void lookups.ask(SCOPE);
    await until(() => status(page) === 'Reading the source: 51 of 200 files');
    await until(() => library.waiting.length === 1);
    library.waiting[0](200, found());

    await until(() => status(page) === 'Nothing was found.');
  });
});

function found(...results: LookedUp[]): LookupAnswer {
  return { found: results, left_out: 0, problems: [], skipped: 0 };
}

async function drawn(
  tools: Partial<ITools> = {},
  event: Partial<LibraryEvent> | null = null
): Promise<HTMLElement> {
  const trans = nullTranslator.load('jupyterlab');
  const usual = { trans, languages: null, sourceOpener: () => null };
  const told = { kind: 'library', number: 1, target: 'tealeaf', is_done: false, error: '' };
  return draw(
    <LookUp
      lookups={lookups}
      scope={SCOPE}
      libraries={SCOPE.libraries}
      indexing={new Map(event ? [['tealeaf', { ...told, ...event } as LibraryEvent]] : [])}
      tools={{ ...usual, ...tools } as ITools}
    />
  );
}

async function answered(page: HTMLElement, code: number, answer: object): Promise<void> {
  lookups.update({ text: 'Kettle', isOpen: true });
  const asked = lookups.ask(SCOPE);
  await until(() => library.waiting.length === 1 && status(page) === 'Looking it up…');
  library.waiting[0](code, answer);
  await asked;
  await until(() => status(page) !== 'Looking it up…');
}

function field(page: HTMLElement): HTMLInputElement {
  return page.querySelector('input')!;
}

function status(page: HTMLElement): string {
  return page.querySelector('[role=status]')!.textContent ?? '';
}
