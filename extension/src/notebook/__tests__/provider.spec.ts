import * as nbformat from '@jupyterlab/nbformat';
import { Contents, ContentsManager, Drive, ServerConnection } from '@jupyterlab/services';
import { NotebookSave } from '../../protocol';
import { Requests } from '../../request';
import { KEY, MERGE_KEY, stateOf } from '../marks';
import { ExplorationContents, IMerge, sparingOtherDrives } from '../provider';

const PATH = 'tea-exploration.ipynb';

function own(source: string): nbformat.ICell {
  return { id: 'a', cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null };
}

function notebook(source: string, taken?: number): nbformat.INotebookContent {
  const metadata = { exploracoder: { schema_version: 8 }, ...(taken && { [MERGE_KEY]: taken }) };
  return { cells: [own(source)], metadata, nbformat: 4, nbformat_minor: 5 };
}

describe('ExplorationContents', () => {
  let bodies: NotebookSave[];
  let answers: (() => void)[];
  let contents: ExplorationContents;

  beforeEach(async () => {
    bodies = [];
    answers = [];
    const model = { name: PATH, path: PATH, type: 'notebook', writable: true, mimetype: null };
    const dated = { created: '2026-01-01T00:00:00Z', last_modified: '2026-01-02T00:00:00Z' };
    const reply = (body: object) => new Response(JSON.stringify(body), { status: 200 });
    const settings = ServerConnection.makeSettings({
      fetch: async (request: RequestInfo | URL) => {
        const asked = request as Request;
        if (asked.method !== 'PUT') {
          return reply({ ...model, ...dated, format: 'json', content: notebook('a') });
        }
        bodies.push(JSON.parse(await asked.text()));
        await new Promise<void>(resolve => answers.push(resolve));
        return reply({ ...model, ...dated, size: 1, change: { cells: [], order: null } });
      }
    });
    contents = new ExplorationContents(new Requests(settings));
    await contents.get(PATH, { content: true });
  });

  const save = (content: nbformat.INotebookContent) =>
    contents.save(PATH, { type: 'notebook', format: 'json', content });
  const until = async (count: number) => {
    while (answers.length < count) {
      await new Promise(resolve => setTimeout(resolve, 1));
    }
  };

  it('tells a save that overtakes an answer what the one before has brought', async () => {
    const merges: IMerge[] = [];
    contents.merged.connect((_, merge) => merges.push(merge));
    const first = save(notebook('ab'));
    const second = save(notebook('abc'));
    await until(1);
    expect(bodies).toHaveLength(1);
    answers[0]();
    await first;
    await until(2);
    answers[1]();
    await second;

    expect(bodies.map(one => one.base)).toEqual([
      { a: stateOf(own('a')) },
      { a: stateOf(own('ab')) }
    ]);
    expect(merges.map(one => one.number)).toEqual([1, 2]);
  });

  it('asks nobody which file to keep, whenever the server has written it', async () => {
    const before = await contents.get(PATH, { content: false });
    const saving = save(notebook('ab'));
    await until(1);
    answers[0]();
    const after = await saving;

    expect(after.last_modified).toBe(before.last_modified);
    expect(after.name).toBe(PATH);
  });
});

describe('sparingOtherDrives', () => {
  it('leaves the notebooks of other drives to them', async () => {
    const drive = new Drive();
    const cloud = new Drive({ name: 'cloud' });
    const model = { path: 'tea.ipynb' } as Contents.IModel;
    const provided = { get: jest.fn(async () => model), save: jest.fn(async () => model) };
    drive.contentProviderRegistry.register(KEY, provided);
    const get = jest.spyOn(cloud, 'get').mockResolvedValue(model);
    const contents = new ContentsManager({ defaultDrive: drive });
    contents.addDrive(cloud);
    sparingOtherDrives(contents);
    const options = { contentProviderId: KEY };

    expect(contents.getSharedModelFactory('cloud:tea.ipynb', options)).toBeNull();
    await contents.get('cloud:tea.ipynb', options);
    expect(get).toHaveBeenCalledWith('tea.ipynb', { contentProviderId: undefined });
    expect(provided.get).not.toHaveBeenCalled();
    await contents.get('tea.ipynb', options);
    expect(provided.get).toHaveBeenCalledWith('tea.ipynb', options);
    [contents, drive, cloud].forEach(one => one.dispose());
  });
});
