import { CHECK, CONTEXT, GOALS, READ, PART_OF_SOLUTION } from '../lab/lines';
import { expect, test } from '../lab/test';

test('a task becomes live cells, a checked solution, and a cell of the own notebook', async ({
  lab,
  stage
}) => {
  const { notebook, sidebar } = lab;
  await lab.openOwnNotebook();
  await sidebar.explore({ check: CHECK });

  // The plan comes first, and nothing has been tried before the user has seen it.
  await expect(sidebar.items).toHaveCount(3);
  for (const [index, goal] of GOALS.entries()) {
    await expect(sidebar.items.nth(index)).toContainText(goal);
  }
  expect(await stage.states()).toEqual(['pending', 'pending', 'pending']);
  await expect(sidebar.candidates.getByRole('tab')).toHaveAccessibleName(/not run/);
  await expect(notebook.cell('read_leaves')).toContainText('written, not run');
  await expect(notebook.panel).not.toContainText("Leaf(name='assam'");

  await lab.goOn();
  await lab.expectStates('review', 'pending', 'pending');
  const { path } = await stage.theExploration();
  await expect(sidebar.docs).toContainText('tealeaf.read_leaves');
  await expect(sidebar.candidates.getByRole('tab')).not.toHaveCount(0);
  await expect(notebook.cell('read_leaves')).toContainText("Leaf(name='assam'");

  await notebook.button('Accept', notebook.cell('read_leaves')).click();
  await lab.expectStates('done', 'review', 'pending');
  await lab.accept('done', 'done', 'review');
  await lab.accept('done', 'done', 'done');
  await sidebar.button('Synthesize').click();
  await expect(sidebar.status).toContainText('Solved and verified');
  await expect(sidebar.root).toContainText('the check passed');
  await expect(notebook.solution).toHaveCount(1);

  await sidebar.button('Insert into my notebook').click();
  const own = lab.own().locator('.jp-CodeCell');
  await expect(own).toHaveCount(2);
  await expect(own.nth(1)).toContainText(PART_OF_SOLUTION);
  // It is put in, and not run: that is the user's to do.
  await expect(own.nth(1).locator('.jp-OutputArea-output')).toHaveCount(0);
  await lab.execute('notebook:undo-cell-action');
  await expect(own).toHaveCount(1);
  await lab.execute('notebook:redo-cell-action');
  await expect(own).toHaveCount(2);

  expect(stage.cells(stage.path('tea.ipynb')).map(cell => cell.source)).toEqual([CONTEXT]);
  await expect
    .poll(() => stage.cells(path).map(cell => cell.metadata.exploracoder?.role))
    .toEqual([
      'task',
      'context',
      'goal',
      'candidate',
      'goal',
      'candidate',
      'goal',
      'candidate',
      'verdict',
      'solution',
      'check',
      'branches'
    ]);
  const first = stage.cells(path).find(cell => cell.metadata.exploracoder?.role === 'candidate');
  expect(first?.source).toBe(READ);
  expect(JSON.stringify(first?.outputs)).toContain('assam');
  await expect.poll(() => stage.saved(path).status).toBe('solved');
  expect(lab.errors).toEqual([]);
});

test('somebody who does not want to be asked is shown the solution at once', async ({
  lab,
  stage
}) => {
  await lab.openOwnNotebook();
  await lab.sidebar.explore({ check: CHECK, isAuto: true });

  await expect(lab.sidebar.status).toContainText('Solved and verified', {
    timeout: 60_000
  });
  expect(await stage.states()).toEqual(['done', 'done', 'done']);
  await expect(lab.notebook.solution).toHaveCount(1);
  await lab.sidebar.usedDocs.getByText('tealeaf.read_leaves').click();
  await expect(lab.sidebar.usedDocs).toContainText('read_leaves(text)');
});
