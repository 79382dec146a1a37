import { CONTEXT, PART_OF_SOLUTION, TASK } from '../lab/lines';
import { expect, test } from '../lab/test';

test('the variables and libraries of the notebook come along without a click', async ({
  lab,
  stage
}) => {
  const { sidebar } = lab;
  await lab.openOwnNotebook('tea.ipynb', 'import tealeaf', CONTEXT);
  await lab.execute('notebook:run-all-cells');
  await sidebar.open();
  await sidebar.task.fill(TASK);

  await expect(sidebar.along.getByText('text', { exact: true })).toBeVisible();
  await expect(sidebar.button('Remove tealeaf')).toBeVisible();
  await sidebar.button('Explore').click();
  await lab.sidebar.expectTurn();
  const { exploration } = await stage.theExploration();
  expect(exploration.task.libraries).toEqual(['tealeaf']);
  expect(exploration.task.context).toBe('');
  await lab.goOn();
  await lab.expectStates('review', 'pending', 'pending');
  const { exploration: later } = await stage.theExploration();
  expect(later.brought.variables.map(one => one.name)).toEqual(['text']);
});

test('what is not in the kernel comes by its cell, until one takes it out', async ({ lab }) => {
  const { sidebar } = lab;
  await lab.openOwnNotebook();
  await sidebar.open();
  await sidebar.task.fill(TASK);

  await expect(sidebar.along).toContainText(CONTEXT);
  await sidebar.along.getByRole('button').click();
  await expect(sidebar.along).toHaveCount(0);
  await sidebar.task.fill(`${TASK} Now.`);
  await lab.page.waitForTimeout(1500);
  await expect(sidebar.along).toHaveCount(0);
});

test('a cell that fails is explored, and its code replaced as one step', async ({ lab }) => {
  const { sidebar } = lab;
  const wrong = 'import tealeaf\nnames = tealeaf.reed(text)';
  await lab.openOwnNotebook('tea.ipynb', CONTEXT, wrong);
  await lab.execute('notebook:run-all-cells');
  const failed = lab.own().locator('.jp-CodeCell').nth(1);
  await failed.getByRole('button', { name: 'Explore this error' }).click();

  await expect(sidebar.task).toHaveValue(/AttributeError.*\n[^]*tealeaf\.reed/);
  await expect(sidebar.button('Remove tealeaf')).toBeVisible();
  await expect(sidebar.along.getByText('text', { exact: true })).toBeVisible();
  await sidebar.root.getByRole('checkbox', { name: 'Review each step' }).uncheck();
  await sidebar.button('Explore').click();
  await expect(sidebar.solution).toBeVisible({ timeout: 60_000 });
  await sidebar.button('Insert into my notebook').click();
  const dialog = lab.page.getByRole('dialog');
  await expect(dialog).toContainText('Replace the code of this cell?');
  await expect(dialog).toContainText('names = tealeaf.reed(text)');
  await expect(dialog).toContainText(PART_OF_SOLUTION);
  await dialog.getByRole('button', { name: 'Replace' }).click();

  await expect(failed).toContainText(PART_OF_SOLUTION);
  await expect(lab.own().locator('.jp-CodeCell')).toHaveCount(2);
  await failed.getByRole('textbox').click();
  await lab.page.keyboard.press('ControlOrMeta+Z');
  await expect(failed.locator('.jp-InputArea')).toContainText('tealeaf.reed(text)');
  await expect(failed).not.toContainText(PART_OF_SOLUTION);
});

test('a comment in a cell is the task, and the solution stands below it', async ({ lab }) => {
  const { sidebar } = lab;
  await lab.openOwnNotebook('tea.ipynb', CONTEXT, `# ${TASK}`, 'last = 1');
  const cells = lab.own().locator('.jp-CodeCell');
  await cells.nth(1).locator('.jp-InputPrompt').click({ button: 'right' });
  await lab.page.getByRole('menuitem', { name: 'Explore This Cell' }).click();

  await expect(sidebar.task).toHaveValue(TASK);
  await expect(sidebar.along).toContainText(CONTEXT);
  await sidebar.addLibrary('tealeaf');
  await sidebar.root.getByRole('checkbox', { name: 'Review each step' }).uncheck();
  await sidebar.button('Explore').click();
  await expect(sidebar.solution).toBeVisible({ timeout: 60_000 });
  await sidebar.button('Insert into my notebook').click();
  await expect(cells.nth(2)).toContainText(PART_OF_SOLUTION);
  await expect(cells.nth(3)).toContainText('last = 1');

  // Another time it is the same cell that gets the solution, once the difference was seen.
  await sidebar.button('Insert into my notebook').click();
  const dialog = lab.page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Replace' }).click();
  await expect(cells).toHaveCount(4);
  await cells.nth(2).getByRole('textbox').click();
  await lab.page.keyboard.press('ControlOrMeta+A');
  await lab.page.keyboard.insertText('mine = 2');
  await sidebar.button('Insert into my notebook').click();
  await dialog.getByRole('button', { name: 'Insert below' }).click();
  await expect(cells).toHaveCount(5);
  await expect(cells.nth(2)).toContainText('mine = 2');
  await expect(cells.nth(3)).toContainText(PART_OF_SOLUTION);
});

test('who looks elsewhere is called back when it is their turn', async ({ lab, stage }) => {
  const { sidebar } = lab;
  await lab.openOwnNotebook();
  await stage.say({ is_held: true });
  await sidebar.explore();
  await expect(lab.notebook.panel).toBeVisible();
  await sidebar.tab.click();
  await lab.closePanel('tea-exploration.ipynb');
  await stage.say({});

  const call = lab.page.locator('.Toastify__toast').filter({ hasText: 'Your turn' });
  await expect(call).toBeVisible({ timeout: 30_000 });
  await expect(sidebar.tab).toHaveClass(/jp-mod-calling/);
  await call.getByRole('button', { name: 'Show' }).click();
  await expect(sidebar.root).toBeVisible();
  await expect(sidebar.tab).not.toHaveClass(/jp-mod-calling/);
});

test('what the model writes is seen while it writes it', async ({ lab, stage }) => {
  const { sidebar } = lab;
  await lab.openOwnNotebook();
  await stage.say({ piece_seconds: 0.5 });
  await sidebar.explore();

  const live = lab.page.getByRole('group', { name: 'Being written' });
  // In the sidebar and below the exploration's notebook, before there is a cell.
  await expect(live.first()).toContainText('import tealeaf');
  await expect(live).toHaveCount(2);
  await expect(live.first()).toContainText(/\d+ s/);
  await stage.say({});
  await expect(sidebar.items).toHaveCount(3);
  await lab.sidebar.expectTurn();
  await expect(live).toHaveCount(0);
});
