import { expect, test } from '../lab/test';

test('after the server crashed, what was accepted is there, and goes on', async ({
  lab,
  stage
}) => {
  const { notebook, sidebar } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');
  const before = await stage.theExploration();

  await stage.jupyter('kill');
  await stage.jupyter('start');
  await lab.reload();
  await sidebar.open();
  await sidebar.root.getByRole('button', { name: 'Resume' }).first().click();

  await lab.expectStates('done', 'review', 'pending');
  const after = await stage.theExploration();
  expect(after.path).toBe(before.path);
  expect(after.exploration.steps[0]).toEqual(before.exploration.steps[0]);
  await expect(notebook.cell('read_leaves')).toContainText("Leaf(name='assam'");
  await lab.accept('done', 'done', 'review');
});

test('a tab that stays open over a restart says what to do, and goes on', async ({
  lab,
  stage
}) => {
  const { sidebar } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');

  await stage.jupyter('stop');
  await stage.jupyter('start');

  const resume = sidebar.root.getByRole('button', { name: 'Resume' }).first();
  await expect(resume).toBeVisible({ timeout: 60_000 });
  await lab.dismissForeignDialogs();
  await resume.click();
  await lab.expectStates('done', 'review', 'pending');
});

test('what is typed while the server stops is kept, and nobody is asked about the file', async ({
  lab,
  stage
}) => {
  const { notebook, sidebar } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');
  await notebook.cell('Leaf(').getByRole('textbox').click();
  await lab.execute('notebook:insert-cell-below');
  await lab.execute('notebook:enter-edit-mode');

  await lab.page.keyboard.type('# the leaves');
  const cell = notebook.cell('# the leaves');
  await expect(cell).toHaveCount(1);

  const stopping = stage.jupyter('stop');
  await lab.page.keyboard.type(' of all teas that were picked in the first flush', { delay: 40 });
  await stopping;
  // A dialog of JupyterLab's may have taken the last of it.
  const typed = await cell.locator('.cm-line').innerText();
  await stage.jupyter('start');

  const resume = sidebar.root.getByRole('button', { name: 'Resume' }).first();
  await expect(resume).toBeVisible({ timeout: 60_000 });
  await lab.dismissForeignDialogs();
  await resume.click();
  await lab.expectStates('done', 'review', 'pending');
  await expect(cell.locator('.cm-line')).toHaveText(typed);
  await expect(lab.page.getByText('File Changed')).toHaveCount(0);
});

test('an exploration notebook that is opened later offers to resume', async ({ lab, stage }) => {
  const { notebook, sidebar } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');
  const { exploration, path } = await stage.theExploration();
  await stage.api('DELETE', `explorations/${exploration.id}`);

  await lab.goto(path.replace(`${stage.folder}/`, ''));
  await expect(notebook.button('Resume')).toBeEnabled();
  // JupyterLab may say that the kernel from before is gone.
  await lab.dismissForeignDialogs();
  await notebook.button('Resume').click();

  await lab.expectStates('done', 'review', 'pending');
  await sidebar.open();
  await lab.accept('done', 'done', 'review');
});
