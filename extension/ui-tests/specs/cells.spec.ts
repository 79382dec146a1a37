import { expect, Locator } from '@playwright/test';
import { READ, READ_OTHERWISE, READ_THIRDLY, drafts } from '../lab/lines';
import { Lab } from '../lab/lab';
import { menuItem } from '../lab/sidebar';
import { test } from '../lab/test';

const THREE = drafts(READ, READ_OTHERWISE, READ_THIRDLY);

/** The first subtask's cell: the context's comes before it. */
function first(lab: Lab): Locator {
  return lab.notebook.panel.locator('.jp-CodeCell').nth(1);
}

function text(cell: Locator): Promise<string> {
  return cell.locator('.cm-content').innerText();
}

test('a subtask’s cell shows one candidate after the other before one is accepted', async ({
  lab,
  stage
}) => {
  const { notebook } = lab;
  await stage.say({ is_lost: true, drafts: { 1: THREE } });
  await lab.propose();
  const cell = first(lab);
  await expect(cell).toContainText('proposed');
  const { exploration } = await stage.theExploration();
  const { candidates, chosen } = exploration.steps[0];
  const proposed = candidates.findIndex(one => one.id === chosen);
  // The one that was written at first has failed, and the three drafts come after it.
  const other = proposed === 3 ? 2 : proposed + 1;

  const there = other > proposed ? 'Next candidate' : 'Previous candidate';
  await notebook.button(there, cell).click();

  await expect.poll(() => text(cell)).toBe(candidates[other].code);
  await expect(cell).toContainText('not chosen');
  await notebook.button('Accept', cell).click();
  await lab.expectStates('done', 'review', 'pending');
  const now = (await stage.theExploration()).exploration.steps[0];
  expect(now.chosen).toBe(candidates[other].id);
});

test('an edit says that it was not run, is kept, and can be taken back', async ({ lab, stage }) => {
  const { notebook, page } = lab;
  await lab.propose();
  const cell = first(lab);
  const { path } = await stage.theExploration();
  await cell.getByRole('textbox').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('\nprint("more")');

  await expect(cell).toContainText('edited, not run');
  await expect(notebook.button('Accept', cell)).toHaveCount(0);
  await expect
    .poll(() => stage.cells(path).map(one => one.source))
    .toContain(`${READ}\nprint("more")`);
  await notebook.button('Take back the edit', cell).click();
  await expect.poll(() => text(cell)).toBe(READ);
  await expect(cell).toContainText('proposed');
});

test('a cell of the user’s own keeps its place while the exploration goes on', async ({
  lab,
  stage
}) => {
  const { notebook, page } = lab;
  await lab.propose();
  const { exploration, path } = await stage.theExploration();
  await first(lab).locator('.jp-InputPrompt').click();
  await lab.execute('notebook:insert-cell-below');
  await page.keyboard.press('Enter');
  await page.keyboard.insertText('mine = 1');
  await page.keyboard.press('Shift+Enter');
  const mine = () => stage.cells(path).findIndex(one => one.source === 'mine = 1');
  await expect.poll(mine).toBe(4);

  await notebook.button('Accept', first(lab)).click();
  await lab.expectStates('done', 'review', 'pending');
  await stage.api('DELETE', `explorations/${exploration.id}`);
  await notebook.button('Resume').click();
  await lab.expectStates('done', 'review', 'pending');

  await expect(notebook.panel.locator('.jp-CodeCell').filter({ hasText: 'mine = 1' })).toHaveCount(
    1
  );
  await expect.poll(mine).toBe(4);
  await lab.execute('docmanager:save');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('a button above a cell is pressed with the keys that press buttons', async ({ lab }) => {
  const { notebook, page } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');

  await notebook.button('More about this subtask', first(lab)).focus();
  await page.keyboard.press('Enter');
  await expect(menuItem(page, 'Go back here')).toBeVisible();
  await page.keyboard.press('Enter');

  await lab.expectStates('review', 'pending', 'pending');
  await expect(first(lab)).toContainText('proposed');
});
