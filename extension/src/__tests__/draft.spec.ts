import { Draft, IPlace } from '../draft';

const PLACE: IPlace = {
  path: 'work/mine.ipynb',
  kernelName: 'python3',
  kernelId: 'k9',
  cells: [
    { id: 'a', source: 'import tealeaf' },
    { id: 'b', source: 'print(1)' },
    { id: 'c', source: 'pot = tealeaf.Pot()' }
  ]
};
const CHOICES = {
  profile: null,
  model: { name: 'tea', base_url: '' },
  settings: { candidates: 2 }
};

describe('Draft', () => {
  it('asks for the picked cells in the order of the notebook', () => {
    const draft = new Draft();
    draft.update({ task: ' brew ', libraries: ['tealeaf'], cells: ['c', 'a', 'gone'] });

    const request = draft.request(PLACE, CHOICES);

    expect(request.task).toBe('brew');
    expect(request.context).toBe('import tealeaf\n\npot = tealeaf.Pot()');
    expect(request.path).toBe('work/mine.ipynb');
    expect(request.settings).toEqual({ candidates: 2 });
    expect(request.model).toEqual({ name: 'tea', base_url: '' });
  });

  it('names the kernel only when variables of it come along', () => {
    const draft = new Draft();

    expect(draft.request(PLACE, CHOICES).kernel_id).toBeNull();
    draft.update({ bring: ['pot'] });
    expect(draft.request(PLACE, CHOICES).kernel_id).toBe('k9');
  });

  it('puts aside what was picked in one notebook while the user is in another', () => {
    const [tea, pots] = ['tea.ipynb', 'pots.ipynb'];
    const origin = { cell_id: 'a', is_replaced: true };
    const draft = new Draft();
    draft.visit(tea);
    draft.begin({ task: 'brew', cells: ['a'], bring: ['pot'], origin });

    draft.visit(pots);
    expect(draft.value).toMatchObject({ task: 'brew', cells: [], bring: [], origin: null });
    draft.update({ cells: ['x'] });
    draft.visit(null);
    draft.visit(tea);
    expect(draft.value).toMatchObject({ task: 'brew', cells: ['a'], bring: ['pot'], origin });
    draft.visit(pots);
    expect(draft.value.cells).toEqual(['x']);
  });

  it('goes on with what was picked in a notebook that was moved or opened again', () => {
    const draft = new Draft();
    draft.visit('tea.ipynb');
    draft.update({ task: 'brew', cells: ['a'] });
    draft.move('green.ipynb');
    draft.visit('green.ipynb');
    expect(draft.value.cells).toEqual(['a']);
    draft.visit('pots.ipynb');
    draft.visit('green.ipynb');
    expect(draft.value.cells).toEqual(['a']);
  });

  it.each([
    ['before it is restored', 0],
    ['while it is restored', 1],
    ['after it is restored', 2]
  ])('keeps its picks over a reload when all notebooks are visited %s', async (_, early) => {
    const kept = new Map<string, unknown>();
    const store = {
      fetch: (key: string) => Promise.resolve(kept.get(key)),
      save: (key: string, value: unknown) => Promise.resolve(kept.set(key, value))
    };
    const draft = new Draft();
    await draft.restore(store, 'draft');
    draft.visit('cups.ipynb');
    draft.update({ cells: ['c'] });
    draft.visit('pots.ipynb');
    draft.update({ task: 'brew', cells: ['x'], bring: ['pot'] });

    const again = new Draft();
    const visits = ['tea.ipynb', 'pots.ipynb'];
    visits.slice(0, visits.length - early).forEach(path => again.visit(path));
    await again.restore(store, 'draft');
    visits.slice(visits.length - early).forEach(path => again.visit(path));

    expect(again.value).toMatchObject({ task: 'brew', cells: ['x'], bring: ['pot'] });
    again.visit('tea.ipynb');
    expect(again.value.cells).toEqual([]);
    again.visit('cups.ipynb');
    expect(again.value).toMatchObject({ task: 'brew', cells: ['c'], bring: [] });
  });

  it('takes a task back for the notebook that it was written for', () => {
    const [tea, pots] = ['tea.ipynb', 'pots.ipynb'];
    const draft = new Draft();
    draft.visit(tea);
    draft.begin({ task: 'brew', cells: ['a'] });
    const takeBack = draft.submit();

    draft.visit(pots);
    takeBack();
    expect(draft.value).toMatchObject({ task: 'brew', cells: [] });
    draft.visit(tea);
    expect(draft.value.cells).toEqual(['a']);
  });

  it('begins anew with the same libraries and remembers the task once', () => {
    const draft = new Draft();
    for (const task of ['one', 'two', 'one']) {
      draft.update({ task, libraries: ['tealeaf'], check: 'assert x' });
      draft.submit();
    }

    expect(draft.history).toEqual(['one', 'two']);
    expect(draft.value.task).toBe('');
    expect(draft.value.check).toBe('');
    expect(draft.value.libraries).toEqual(['tealeaf']);
  });

  it('has the mode of the settings until another is chosen', () => {
    const draft = new Draft();

    draft.follow('auto');
    expect(draft.value.mode).toBe('auto');
    draft.update({ mode: 'review' });
    draft.follow('auto');
    expect(draft.value.mode).toBe('review');
  });

  it('keeps what is typed while an exploration starts, and remembers what was submitted', () => {
    const draft = new Draft();
    draft.update({ task: 'one', libraries: ['tealeaf'] });
    const takeBack = draft.submit();
    draft.update({ task: 'the next' });

    takeBack();

    expect(draft.value.task).toBe('the next');
    expect(draft.history).toEqual(['one']);
  });

  it.each([
    { libraries: ['steep'] },
    { cells: ['b'] },
    { bring: ['pot'] },
    { origin: { cell_id: 'b', is_replaced: true } }
  ])('keeps what is picked while an exploration starts: %j', picked => {
    const draft = new Draft();
    draft.update({ task: 'one', libraries: ['tealeaf'], cells: ['a'] });
    const takeBack = draft.submit();
    draft.update(picked);

    takeBack();

    expect(draft.value).toMatchObject({ task: '', ...picked });
    expect(draft.history).toEqual(['one']);
  });

  it('is as it was even if something was suggested while an exploration started', () => {
    const draft = new Draft();
    draft.update({ task: 'one', cells: ['a'] });
    const takeBack = draft.submit();
    draft.suggest({ libraries: [], cells: ['b'], bring: [] });

    takeBack();

    expect(draft.value).toMatchObject({ task: 'one', cells: ['a'] });
  });

  it('is as it was when an exploration could not be started', () => {
    const draft = new Draft();
    draft.update({ task: 'one', libraries: ['tealeaf'], check: 'assert x', cells: ['a'] });
    const before = draft.value;

    draft.submit()();

    expect(draft.value).toEqual(before);
    expect(draft.history).toEqual([]);
  });

  it('is there again after a reload, whatever else is in the store', async () => {
    const kept = new Map<string, unknown>();
    const store = {
      fetch: async (key: string) => JSON.parse(JSON.stringify(kept.get(key) ?? null)),
      save: async (key: string, value: unknown) => kept.set(key, value)
    };
    const draft = new Draft();
    await draft.restore(store, 'draft');
    const origin = { cell_id: 'b', is_replaced: true };
    draft.update({ task: 'half a', libraries: ['tealeaf'], check: 'assert x', origin });
    draft.update({ cells: ['a'], bring: ['pot'] });
    draft.suggest({ libraries: [], cells: ['c'], bring: [] });
    const again = new Draft();
    const broken = new Draft();
    kept.set('broken', {
      others: { a: null },
      task: 5,
      libraries: 'x',
      history: [1],
      origin: {},
      check: []
    });

    await again.restore(store, 'draft');
    await broken.restore(store, 'broken');

    expect(again.value.task).toBe('half a');
    expect(again.value.libraries).toEqual(['tealeaf']);
    expect(again.value).toMatchObject({ check: 'assert x', cells: ['a'], bring: ['pot'], origin });
    expect(broken.value.task).toBe('');
    expect(broken.history).toEqual([]);
  });
});

describe('suggestions for a draft', () => {
  const SUGGESTED = { libraries: ['tealeaf'], cells: ['a'], bring: ['text'] };

  it('are picked, and give way to what is suggested later', () => {
    const draft = new Draft();
    draft.suggest(SUGGESTED);
    draft.suggest({ libraries: ['teapots'], cells: [], bring: ['text', 'pot'] });

    expect(draft.value.libraries).toEqual(['teapots']);
    expect(draft.value.cells).toEqual([]);
    expect(draft.value.bring).toEqual(['text', 'pot']);
  });

  it('are not picked again once they were taken out, and go after what was picked', () => {
    const draft = new Draft();
    draft.update({ libraries: ['mine'], bring: ['pot'] });
    draft.suggest(SUGGESTED);
    draft.update({ bring: ['pot'] });
    draft.suggest(SUGGESTED);

    expect(draft.value.libraries).toEqual(['mine', 'tealeaf']);
    expect(draft.value.bring).toEqual(['pot']);
    draft.suggest({ libraries: [], cells: [], bring: [] });
    expect(draft.value.libraries).toEqual(['mine']);
  });

  it('say nothing when they change nothing', () => {
    const draft = new Draft();
    draft.suggest(SUGGESTED);
    const seen: string[] = [];
    draft.changed.connect(() => seen.push('changed'));

    draft.suggest(SUGGESTED);

    expect(seen).toEqual([]);
  });

  it('are forgotten with the task that they were for', () => {
    const draft = new Draft();
    draft.suggest(SUGGESTED);
    draft.update({ bring: [] });
    draft.begin({ task: 'another' });
    draft.suggest(SUGGESTED);

    expect(draft.value.bring).toEqual(['text']);
  });

  it('do not become libraries of the next task', () => {
    const draft = new Draft();
    draft.update({ libraries: ['mine'], task: 'one' });
    draft.suggest(SUGGESTED);
    draft.submit();
    expect(draft.value.libraries).toEqual(['mine']);

    draft.update({ task: 'half a' });
    draft.suggest(SUGGESTED);
    draft.begin({ task: 'another' });
    expect(draft.value.libraries).toEqual(['mine']);
    expect(draft.history).toEqual(['half a', 'one']);
  });
});
