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
const CHOICES = { profile: null, settings: { candidates: 2 } };

describe('Draft', () => {
  it('asks for the picked cells in the order of the notebook', () => {
    const draft = new Draft();
    draft.update({ task: ' brew ', libraries: ['tealeaf'], cells: ['c', 'a', 'gone'] });

    const request = draft.request(PLACE, CHOICES);

    expect(request.task).toBe('brew');
    expect(request.context).toBe('import tealeaf\n\npot = tealeaf.Pot()');
    expect(request.path).toBe('work/mine.ipynb');
    expect(request.settings).toEqual({ candidates: 2 });
  });

  it('names the kernel only when variables of it come along', () => {
    const draft = new Draft();

    expect(draft.request(PLACE, CHOICES).kernel_id).toBeNull();
    draft.update({ bring: ['pot'] });
    expect(draft.request(PLACE, CHOICES).kernel_id).toBe('k9');
  });

  it('begins anew with the same libraries and remembers the task once', () => {
    const draft = new Draft();
    for (const task of ['one', 'two', 'one']) {
      draft.update({ task, libraries: ['tealeaf'], check: 'assert x' });
      draft.finish();
    }

    expect(draft.history).toEqual(['one', 'two']);
    expect(draft.value.task).toBe('');
    expect(draft.value.check).toBe('');
    expect(draft.value.libraries).toEqual(['tealeaf']);
  });

  it('is there again after a reload, whatever else is in the store', async () => {
    const kept = new Map<string, unknown>();
    const store = {
      fetch: async (key: string) => JSON.parse(JSON.stringify(kept.get(key) ?? null)),
      save: async (key: string, value: unknown) => kept.set(key, value)
    };
    const draft = new Draft();
    await draft.restore(store, 'draft');
    draft.update({ task: 'half a', libraries: ['tealeaf'] });
    const again = new Draft();
    const broken = new Draft();
    kept.set('broken', { task: 5, libraries: 'x', history: [1] });

    await again.restore(store, 'draft');
    await broken.restore(store, 'broken');

    expect(again.value.task).toBe('half a');
    expect(again.value.libraries).toEqual(['tealeaf']);
    expect(broken.value.task).toBe('');
    expect(broken.history).toEqual([]);
  });
});
