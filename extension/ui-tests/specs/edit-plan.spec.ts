import { GOALS, fenced } from '../lab/lines';
import { expect, test } from '../lab/test';

const OTHER = 'Count how many leaves there are';

test('subtasks can be renamed, added, moved, left out and taken away before they run', async ({
  lab,
  stage
}) => {
  const { sidebar } = lab;
  // The last step does without what the one before it would have kept.
  await stage.say({
    drafts: { 3: [fenced('names = [leaf.name for leaf in leaves]\nprint(names)')] }
  });
  await lab.plan();
  const goals = async () =>
    (await stage.theExploration()).exploration.steps.map(step => step.subtask.goal);

  await test.step('rename', async () => {
    await sidebar.items.nth(2).getByRole('button').first().dblclick();
    const goal = sidebar.items.nth(2).getByRole('textbox');
    await goal.fill('Collect their names');
    await goal.press('Enter');
    await expect.poll(goals).toEqual([GOALS[0], GOALS[1], 'Collect their names']);
  });

  await test.step('rename by the menu', async () => {
    await sidebar.choose('Change the goal…', 3);
    const dialog = lab.page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('Collect their names, sorted');
    await dialog.getByRole('button', { name: 'OK' }).click();
    await expect.poll(goals).toEqual([GOALS[0], GOALS[1], 'Collect their names, sorted']);
  });

  await test.step('add', async () => {
    await sidebar.root.getByRole('textbox', { name: 'New subtask' }).fill(OTHER);
    await sidebar.button('Add').click();
    await expect(sidebar.items).toHaveCount(4);
    await expect(sidebar.items.nth(3)).toContainText(OTHER);
  });

  await test.step('move', async () => {
    await sidebar.select(4);
    await lab.page.keyboard.press('Alt+ArrowUp');
    await expect(sidebar.items.nth(2)).toContainText(OTHER);
    // The focus goes along, so that it can be moved on.
    await lab.page.keyboard.press('Alt+ArrowUp');
    await expect(sidebar.items.nth(1)).toContainText(OTHER);
  });

  await test.step('move by mouse', async () => {
    await sidebar.items.nth(1).dragTo(sidebar.items.nth(3));
    await expect(sidebar.items.nth(1)).toContainText(GOALS[1]);
  });

  await test.step('move to the end by mouse, by its handle', async () => {
    const place = (await goals()).indexOf(OTHER);
    const item = sidebar.items.nth(place);
    await item.hover();
    const { height } = (await sidebar.items.nth(3).boundingBox())!;
    await item
      .locator('.jp-exploracoder-drag')
      .dragTo(sidebar.items.nth(3), { targetPosition: { x: 40, y: height - 3 } });
    await expect(sidebar.items.nth(3)).toContainText(OTHER);
  });

  await test.step('delete', async () => {
    const place = (await goals()).indexOf(OTHER) + 1;
    await sidebar.choose('Delete', place);
    await expect(sidebar.items).toHaveCount(3);
  });

  await lab.goOn();
  await lab.expectStates('review', 'pending', 'pending');
  await lab.accept('done', 'review', 'pending');
  await sidebar.choose('Skip');
  await lab.expectStates('done', 'skipped', 'review');

  await expect(sidebar.items.nth(1)).toContainText('skipped');
  expect(await goals()).toEqual([GOALS[0], GOALS[1], 'Collect their names, sorted']);
});

test('from an open subtask on, the plan can be made again', async ({ lab, stage }) => {
  const { sidebar } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');
  await stage.say({ goals: ['Keep strong ones in a list', 'Sort them by name'] });

  await sidebar.choose('Plan again from here', 2);

  await expect(sidebar.items.nth(1)).toContainText('Keep strong ones in a list');
  await expect(sidebar.items).toHaveCount(3);
  await lab.expectStates('done', 'pending', 'pending');
});

test('a subtask that was deleted comes back where it stood', async ({ lab }) => {
  const { page, sidebar } = lab;
  await lab.plan();
  const goals = () => sidebar.items.allTextContents();
  const before = await goals();

  await sidebar.items.nth(1).getByRole('button').first().focus();
  await page.keyboard.press('Delete');
  const undo = page.locator('.Toastify__toast').getByRole('button', { name: 'Undo' });
  // While the mouse is over it, it stays.
  await undo.hover();
  await expect(sidebar.items).toHaveCount(2);
  await undo.click();
  await expect(sidebar.items).toHaveCount(3);
  expect(await goals()).toEqual(before);
});
