import { CodeCellModel, ICellModel } from '@jupyterlab/cells';
import * as nbformat from '@jupyterlab/nbformat';
import { NotebookModel } from '@jupyterlab/notebook';
import { applyCells } from '../../model';
import { merge } from '../merge';
import { currentCells, upsert } from '../upsert';
import { branches, candidate, changeBetween, goal, seeded } from './cells';

const FIRST = [
  goal('s1', '## 1. read'),
  candidate('s1', 'a = 1', 'one'),
  goal('s2', '## 2. sum'),
  candidate('s2', ''),
  branches('root')
];

let model: NotebookModel;

beforeAll(() => {
  // The shared notebook warns about each new cell, with a stack trace.
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
});

beforeEach(() => {
  model = notebook();
});

afterEach(() => {
  model.dispose();
});

describe('upsert', () => {
  it('makes the notebook what the server wants', () => {
    upsert(model, FIRST);

    expect(ids(model)).toEqual(['s1-goal', 's1', 's2-goal', 's2', 'branches']);
    expect(source(model, 's1')).toBe('a = 1');
    expect(outputs(model, 's1')).toEqual(['one\n']);
  });

  it('does nothing the second time', () => {
    upsert(model, FIRST);

    expect(upsert(model, FIRST)).toBe(false);
  });

  it('changes source, outputs and count where they are', () => {
    upsert(model, FIRST);
    const before = cell(model, 's1');
    upsert(model, [FIRST[0], candidate('s1', 'a = 2', 'two'), ...FIRST.slice(2)]);

    expect(cell(model, 's1')).toBe(before);
    expect(source(model, 's1')).toBe('a = 2');
    expect(outputs(model, 's1')).toEqual(['two\n']);
  });

  it('does not mark a cell as changed since it ran when the server has changed it', () => {
    upsert(model, FIRST);
    upsert(model, [FIRST[0], candidate('s1', 'a = 2', 'two'), ...FIRST.slice(2)]);

    expect((cell(model, 's1') as CodeCellModel).isDirty).toBe(false);
    expect((cell(model, 's1') as CodeCellModel).executionState).toBe('idle');
  });

  it('takes out those of ours that are gone', () => {
    upsert(model, FIRST);
    upsert(model, [FIRST[0], FIRST[1], FIRST[4]]);

    expect(ids(model)).toEqual(['s1-goal', 's1', 'branches']);
  });

  it('follows a new order', () => {
    upsert(model, FIRST);
    upsert(model, [FIRST[2], FIRST[3], FIRST[0], FIRST[1], FIRST[4]]);

    expect(ids(model)).toEqual(['s2-goal', 's2', 's1-goal', 's1', 'branches']);
    expect(outputs(model, 's1')).toEqual(['one\n']);
  });

  it('makes a cell of another type anew', () => {
    upsert(model, FIRST);
    const text = { ...FIRST[3], cell_type: 'markdown', source: 'text' } as nbformat.ICell;
    upsert(model, [FIRST[0], FIRST[1], FIRST[2], text, FIRST[4]]);

    expect(cell(model, 's2').type).toBe('markdown');
    expect(ids(model)).toEqual(['s1-goal', 's1', 's2-goal', 's2', 'branches']);
  });

  it("keeps the user's own cells behind the cell that they followed", () => {
    upsert(model, FIRST);
    model.sharedModel.insertCell(2, { cell_type: 'code', id: 'mine', source: 'print(a)' });
    upsert(model, [FIRST[2], FIRST[3], FIRST[0], FIRST[1], FIRST[4]]);

    expect(ids(model)).toEqual(['s2-goal', 's2', 's1-goal', 's1', 'mine', 'branches']);
  });

  it("keeps the user's own cells when the cell that they followed is gone", () => {
    upsert(model, FIRST);
    model.sharedModel.insertCell(4, { cell_type: 'code', id: 'mine', source: 'print(a)' });
    upsert(model, [FIRST[0], FIRST[1], FIRST[4]]);

    expect(ids(model)).toEqual(['s1-goal', 's1', 'mine', 'branches']);
  });

  it('takes a pasted copy of one of its cells for the user’s', () => {
    upsert(model, FIRST);
    model.sharedModel.insertCell(2, { ...FIRST[1], id: 'copy' } as nbformat.ICodeCell);
    upsert(model, FIRST);

    expect(ids(model)).toEqual(['s1-goal', 's1', 'copy', 's2-goal', 's2', 'branches']);
  });

  it('keeps what the user has typed while the server has nothing newer', () => {
    upsert(model, FIRST);
    cell(model, 's1').sharedModel.setSource('a = 1  # mine');
    upsert(model, [{ ...FIRST[0], source: '## 1. read it' }, ...FIRST.slice(1)]);

    expect(source(model, 's1')).toBe('a = 1  # mine');
    expect(outputs(model, 's1')).toEqual(['one\n']);
  });

  it('keeps what the user has typed over a reload', () => {
    upsert(model, FIRST);
    cell(model, 's1').sharedModel.setSource('a = 1  # mine');
    const reloaded = notebook(model.toJSON() as nbformat.INotebookContent);
    upsert(reloaded, FIRST);

    expect(source(reloaded, 's1')).toBe('a = 1  # mine');
    reloaded.dispose();
  });

  it('keeps what the user has typed in a cell that is gone, in a cell of the user’s', () => {
    upsert(model, FIRST);
    cell(model, 's1').sharedModel.setSource('a = 1  # mine');
    const left = [FIRST[2], FIRST[3], FIRST[4]];
    upsert(model, left);

    const [kept] = currentCells(model);
    // The server gives it the same id; see test_a_typed_cell_that_is_gone_is_kept_once.
    expect(kept.json.id).toBe('3-38cx3d');
    expect([kept.json.source, kept.json.metadata]).toEqual(['a = 1  # mine', {}]);
    expect(ids(model).slice(1)).toEqual(['s2-goal', 's2', 'branches']);
    expect(upsert(model, left)).toBe(false);
  });

  it('leaves what it keeps where it was typed', () => {
    upsert(model, FIRST);
    cell(model, 's2').sharedModel.setSource('b = 2');
    upsert(model, [FIRST[0], FIRST[1], FIRST[4]]);

    expect(source(model, ids(model)[2])).toBe('b = 2');
    expect(ids(model)).toHaveLength(4);
  });

  it.each([
    ['a = 1', 'less', ['a = 12']],
    ['a = 12', 'the same', ['a = 12']],
    ['a = 123', 'more', ['a = 123']],
    ['b = 5', 'something else', ['a = 12', 'b = 5']]
  ])('keeps it once when the server has kept %s, %s', (kept, _, expected) => {
    upsert(model, FIRST);
    cell(model, 's1').sharedModel.setSource('a = 12');
    model.sharedModel.insertCell(0, { cell_type: 'code', id: '3-38cx3d', source: kept });
    upsert(model, FIRST.slice(2));

    expect(ids(model).slice(-3)).toEqual(['s2-goal', 's2', 'branches']);
    const own = currentCells(model).map(one => one.json.source as string);
    expect(own.slice(0, -3).sort()).toEqual(expected);
    expect(upsert(model, FIRST.slice(2))).toBe(false);
  });

  it('keeps an edit in a cell of the user’s when a newer candidate goes over it', () => {
    upsert(model, FIRST);
    cell(model, 's1').sharedModel.setSource('a = 1  # mine');
    const next = [FIRST[0], candidate('s1', 'a = 3', 'three'), ...FIRST.slice(2)];
    upsert(model, next);

    expect(source(model, 's1')).toBe('a = 3');
    // The server gives it the same id; see test_code_that_is_typed_over_is_kept_once.
    expect(ids(model)).toEqual(['s1-goal', 's1', '3-38cx3d', 's2-goal', 's2', 'branches']);
    expect(source(model, '3-38cx3d')).toBe('a = 1  # mine');
    expect(upsert(model, next)).toBe(false);
    // In its place, undo brings it back, too.
    cell(model, 's1').sharedModel.undo();
    expect(source(model, 's1')).toContain('# mine');
  });

  it('keeps a cell with an earlier edit that the user has run', () => {
    upsert(model, FIRST);
    cell(model, 's1').sharedModel.setSource('a = 12');
    const { outputs: shown } = candidate('', '', 'ran') as nbformat.ICodeCell;
    const kept = { ...candidate('3-38cx3d', 'a = 1'), metadata: {}, outputs: shown };
    model.sharedModel.insertCell(2, kept as nbformat.ICodeCell);
    upsert(model, [FIRST[0], candidate('s1', 'b = 3'), ...FIRST.slice(2)]);

    expect(outputs(model, '3-38cx3d')).toEqual(['ran\n']);
    expect(sources(model).slice(1, 4).sort()).toEqual(['a = 1', 'a = 12', 'b = 3']);
  });

  it('keeps no edit twice that the newer candidate has taken up', () => {
    upsert(model, FIRST);
    cell(model, 's1').sharedModel.setSource('a = len(x)');
    upsert(model, [FIRST[0], candidate('s1', 'import x\na = len(x)'), ...FIRST.slice(2)]);

    expect(ids(model)).toEqual(['s1-goal', 's1', 's2-goal', 's2', 'branches']);
  });

  it('keeps no stray Enter at the end of a cell that is gone or gets newer code', () => {
    upsert(model, FIRST);
    cell(model, 's1').sharedModel.setSource('a = 1\n');
    upsert(model, [FIRST[0], candidate('s1', 'b = 3'), ...FIRST.slice(2)]);
    cell(model, 's1').sharedModel.setSource('b = 3\n\n');
    upsert(model, FIRST.slice(2));

    expect(ids(model)).toEqual(['s2-goal', 's2', 'branches']);
  });

  it('keeps the pictures in a text that the user has typed', () => {
    const attachments = { 'tea.png': { 'image/png': 'AA' } };
    upsert(model, FIRST);
    const index = ids(model).indexOf('s1-goal');
    const typed = { ...model.cells.get(index).toJSON(), source: '![tea](attachment:tea.png)' };
    model.sharedModel.deleteCell(index);
    model.sharedModel.insertCell(index, { ...typed, attachments } as never);
    upsert(model, FIRST.slice(2));

    expect(currentCells(model)[0].json).toMatchObject({ cell_type: 'markdown', attachments });
  });

  it('leaves the undo history to the user', () => {
    upsert(model, FIRST);
    upsert(model, [FIRST[0], candidate('s1', 'a = 4'), FIRST[4]]);

    expect(model.sharedModel.canUndo()).toBe(false);
    expect(cell(model, 's1').sharedModel.canUndo()).toBe(false);
  });

  it('leaves a running cell alone until it has ended', () => {
    upsert(model, FIRST);
    const running = cell(model, 's1') as CodeCellModel;
    running.executionState = 'running';
    running.outputs.fromJSON([]);
    upsert(model, [FIRST[2], FIRST[3], goal('s1', 'x'), candidate('s1', 'b', 'b'), FIRST[4]]);

    expect(cell(model, 's1')).toBe(running);
    expect(source(model, 's1')).toBe('a = 1');
    expect(outputs(model, 's1')).toEqual([]);
  });

  it('does not take out a running cell before it has ended', () => {
    upsert(model, FIRST);
    const running = cell(model, 's1') as CodeCellModel;
    running.executionState = 'running';
    upsert(model, [FIRST[2], FIRST[3], FIRST[4]]);
    expect(ids(model)).toContain('s1');

    running.executionState = 'idle';
    upsert(model, [FIRST[2], FIRST[3], FIRST[4]]);
    expect(ids(model)).toEqual(['s2-goal', 's2', 'branches']);
  });

  it('shows outputs of the server as untrusted, also in a cell that the user has run', () => {
    upsert(model, FIRST);
    cell(model, 's1').trusted = true;
    const bold = { ...candidate('s1', 'b'), outputs: [html('<script>x</script>')] };
    upsert(model, [FIRST[0], bold, ...FIRST.slice(2)]);

    expect(cell(model, 's1').trusted).toBe(false);
  });

  it('does not believe a cell that says it can be trusted', () => {
    const bold = candidate('s1', 'b', 'b');
    upsert(model, [{ ...bold, metadata: { ...bold.metadata, trusted: true } }]);

    expect(cell(model, 's1').trusted).toBe(false);
  });

  it('keeps tags and folding that the user has set', () => {
    upsert(model, FIRST);
    cell(model, 's1').setMetadata('tags', ['keep']);
    upsert(model, [FIRST[0], candidate('s1', 'a = 9'), ...FIRST.slice(2)]);

    expect(cell(model, 's1').getMetadata('tags')).toEqual(['keep']);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'ends in the same notebook however often it was brought up to date (%i)',
    seed => {
      const random = seeded(seed);
      let there: nbformat.ICell[] = [];
      let here: nbformat.ICell[] = [];
      for (let round = 0; round < 150; round++) {
        const what = random();
        if (what < 0.5) {
          const next = randomCells(random);
          here = applyCells(here, changeBetween(there, next));
          there = next;
        } else if (what < 0.9) {
          upsert(model, here);
        } else {
          addOwn(model, random, round);
        }
      }
      const own = ids(model).filter(id => id.startsWith('own'));
      upsert(model, here);

      const ours = currentCells(model).filter(one => !String(one.json.id).startsWith('own'));
      expect(ours.map(one => [one.json.id, one.json.source])).toEqual(
        there.map(one => [one.id, one.source])
      );
      expect(ours.map(one => (one.json.outputs as unknown[] | undefined)?.length ?? 0)).toEqual(
        there.map(one => (one.outputs as unknown[] | undefined)?.length ?? 0)
      );
      expect(
        ids(model)
          .filter(id => id.startsWith('own'))
          .sort()
      ).toEqual(own.sort());
      expect(upsert(model, here)).toBe(false);
    }
  );
});

describe('merge', () => {
  const path = 'tea.ipynb';
  const own = (id: string, source: string): nbformat.ICell => ({
    id,
    cell_type: 'code',
    source,
    metadata: {},
    outputs: [],
    execution_count: null
  });

  it('takes over what others have added, changed and removed', () => {
    const sent = [own('a', '1'), own('b', '2'), own('c', '3')];
    sent.forEach((one, index) => model.sharedModel.insertCell(index, one as never));
    const after = [own('new', '0'), own('a', '1'), own('b', '22'), own('z', '4')];

    merge(model, { path, number: 1, sent, change: changeBetween(sent, after) });

    expect(sources(model)).toEqual(['0', '1', '22', '4', '']);
  });

  it('leaves what the user has typed since', () => {
    const sent = [own('a', '1'), own('b', '2')];
    sent.forEach((one, index) => model.sharedModel.insertCell(index, one as never));
    cell(model, 'a').sharedModel.setSource('typed');
    cell(model, 'b').sharedModel.setSource('typed, too');

    merge(model, { path, number: 1, sent, change: changeBetween(sent, [own('a', '11')]) });

    expect(sources(model)).toEqual(['typed', 'typed, too', '']);
  });
});

function sources(model: NotebookModel): string[] {
  return Array.from(model.cells, one => one.sharedModel.getSource());
}

function notebook(content?: nbformat.INotebookContent): NotebookModel {
  const model = new NotebookModel({ disableDocumentWideUndoRedo: true });
  model.fromJSON(
    content ?? { cells: [branches('')], metadata: {}, nbformat: 4, nbformat_minor: 5 }
  );
  model.sharedModel.clearUndoHistory();
  return model;
}

function ids(model: NotebookModel): string[] {
  return Array.from(model.cells, one => one.id);
}

function cell(model: NotebookModel, id: string): ICellModel {
  const found = Array.from(model.cells).find(one => one.id === id);
  if (!found) {
    throw new Error(`There is no cell ${id}.`);
  }
  return found;
}

function source(model: NotebookModel, id: string): string {
  return cell(model, id).sharedModel.getSource();
}

function outputs(model: NotebookModel, id: string): unknown[] {
  return (cell(model, id) as CodeCellModel).outputs.toJSON().map(output => output.text);
}

function html(text: string): nbformat.IOutput {
  return { output_type: 'display_data', data: { 'text/html': text }, metadata: {} };
}

function randomCells(random: () => number): nbformat.ICell[] {
  const subtasks = ['s1', 's2', 's3', 's4', 's5'].filter(() => random() < 0.7);
  subtasks.sort(() => random() - 0.5);
  const made = subtasks.flatMap(subtask => {
    const version = Math.floor(random() * 3);
    const shows = random() < 0.5 ? `shown ${version}` : '';
    return [goal(subtask, `## ${version}`), candidate(subtask, `x = ${version}`, shows)];
  });
  return [...made, branches(`${made.length}`)];
}

function addOwn(model: NotebookModel, random: () => number, round: number): void {
  const index = Math.floor(random() * (model.cells.length + 1));
  model.sharedModel.insertCell(index, { cell_type: 'code', id: `own-${round}`, source: '1' });
}
