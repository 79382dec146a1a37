import type { Locator, Page } from '@playwright/test';
import { CONTEXT, LIBRARY, PART_OF_SOLUTION, READ, TASK, drafts, fenced } from '../lab/lines';
import { menuItem } from '../lab/sidebar';
import { expect, test } from '../lab/test';

/** Go on with Tab until what has the focus is called so. */
async function tabTo(page: Page, role: string, name: string, key = 'Tab'): Promise<void> {
  await tabUntil(page, page.getByRole(role as 'button', { name, exact: true }), key);
}

async function tabUntil(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  for (let press = 0; press < 80; press++) {
    const isThere = await target.evaluateAll(found =>
      found.some(element => element === document.activeElement)
    );
    if (isThere) {
      return;
    }
    await page.keyboard.press(key);
  }
  throw new Error(`${target} is not reached with ${key}.`);
}

test('everything from the task to the inserted cell is done with the keyboard', async ({
  lab,
  stage
}) => {
  const { page, sidebar } = lab;
  const { keyboard } = page;
  await lab.openOwnNotebook();

  await lab.choose('Show ExploraCoder');
  await expect(sidebar.task).toBeFocused();
  await keyboard.insertText(TASK);
  await tabTo(page, 'combobox', 'Add a library');
  await keyboard.insertText(LIBRARY);
  await keyboard.press('Enter');
  // A part that is folded is opened by the space bar, as everywhere. It has no role.
  await tabUntil(page, page.locator('summary').filter({ hasText: /^\s*Context/ }));
  await keyboard.press('Space');
  await tabTo(page, 'checkbox', CONTEXT);
  await expect(page.getByRole('checkbox', { name: CONTEXT, exact: true })).toBeChecked();
  await tabTo(page, 'button', 'Explore');
  await keyboard.press('Enter');
  await expect(sidebar.items).toHaveCount(3);

  await test.step('the plan is moved through with arrows and edited with keys', async () => {
    await tabTo(page, 'button', await nameOf(1));
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowDown');
    await keyboard.press('Alt+ArrowUp');
    await expect(sidebar.items.nth(1)).toContainText('Collect the names');
    await keyboard.press('Alt+ArrowDown');
    await expect(sidebar.items.nth(2)).toContainText('Collect the names');
    await keyboard.press('F2');
    await keyboard.press('ControlOrMeta+A');
    await keyboard.insertText('Collect the names of all of them');
    await keyboard.press('Enter');
    await expect(sidebar.items.nth(2)).toContainText('names of all of them');
  });

  await lab.choose('Show ExploraCoder');
  await tabTo(page, 'button', 'Explore');
  await keyboard.press('Enter');
  await lab.expectStates('review', 'pending', 'pending');
  // A menu has what could be done when it was opened, and its button goes where the view goes.
  await expect(async () => {
    await keyboard.press('Escape');
    await tabUntil(page, sidebar.button('More about this subtask'));
    await keyboard.press('Enter');
    await expect(menuItem(page, 'Accept')).toBeVisible({ timeout: 10_000 });
  }).toPass({ timeout: 60_000 });
  await keyboard.press('Enter');
  await lab.expectStates('done', 'review', 'pending');
  await expect(sidebar.items.first().getByRole('button').first()).toBeFocused();
  await lab.choose('Accept');
  await lab.expectStates('done', 'done', 'review');
  await lab.choose('Accept');
  await lab.expectStates('done', 'done', 'done');
  await lab.choose('Synthesize');
  await expect(sidebar.solution).toContainText(PART_OF_SOLUTION);
  await lab.choose('Insert into my notebook');
  await expect(lab.own().locator('.jp-CodeCell')).toHaveCount(2);
  expect(await stage.states()).toEqual(['done', 'done', 'done']);

  async function nameOf(number: number): Promise<string> {
    const item = sidebar.items
      .nth(number - 1)
      .getByRole('button')
      .first();
    return (await item.textContent())?.trim() ?? '';
  }
});

test('what is wrong is said in the row above the cell, without a mouse', async ({ lab, stage }) => {
  const { notebook, page } = lab;
  await lab.propose();
  const cell = notebook.cell('read_leaves');
  await stage.say({ drafts: { 1: [fenced(`${READ}\nprint("sorted")`)] } });
  const button = notebook.button('Try again', cell);

  await button.focus();
  await page.keyboard.press('Enter');
  await expect(cell.getByRole('textbox', { name: 'Hint' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(button).toBeFocused();
  await page.keyboard.press('Enter');
  // Where one types, they are letters.
  await page.keyboard.type('add, dd, sorted');
  await page.keyboard.press('Enter');

  await expect(notebook.cell('sorted')).not.toHaveCount(0);
  await expect(notebook.button('Try again', notebook.cell('read_leaves'))).toBeFocused();
});

test('the cards of candidates are moved through with the arrow keys', async ({ lab, stage }) => {
  const { page, sidebar } = lab;
  const read = (shown: string) => `import tealeaf\nleaves = tealeaf.read_leaves(text)\n${shown}`;
  const three = drafts(read('print(1)'), read('print(2)'), read('print(3)'));
  await stage.say({ is_lost: true, drafts: { 1: three } });
  await lab.propose();
  const tabs = sidebar.candidates.getByRole('tab');
  // The one that was written at first has failed, and the three drafts come after it.
  await expect(tabs).toHaveCount(4);

  await tabs.first().focus();
  await page.keyboard.press('End');
  await expect(tabs.nth(3)).toBeFocused();
  await expect(tabs.nth(3)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowRight');
  await expect(tabs.first()).toBeFocused();
  await page.keyboard.press('ArrowRight');

  await expect(tabs.nth(1)).toBeFocused();
  await expect(sidebar.candidate).toContainText('print(1)');
});

test('single keys decide about the cell that is active in the exploration’s notebook', async ({
  lab,
  stage
}) => {
  const { notebook, page } = lab;
  const read = (shown: string) => `import tealeaf\nleaves = tealeaf.read_leaves(text)\n${shown}`;
  const three = drafts(read('print(1)'), read('print(2)'), read('print(3)'));
  await stage.say({ is_lost: true, drafts: { 1: three } });
  await lab.propose();
  // The context's cell comes before it.
  const cell = notebook.panel.locator('.jp-CodeCell').nth(1);
  await cell.locator('.jp-InputPrompt').click();
  const { candidates, chosen } = (await stage.theExploration()).exploration.steps[0];
  const place = candidates.findIndex(one => one.id === chosen) + 1;

  await page.keyboard.press('[');
  await expect(cell).toContainText(`${place - 1} of 4`);
  await page.keyboard.press(']');
  await expect(cell).toContainText(`${place} of 4`);
  await page.keyboard.press('a');
  await lab.expectStates('done', 'review', 'pending');
  await lab.sidebar.expectStates('done', 'review', 'pending');
  await page.keyboard.press('b');
  await lab.expectStates('review', 'pending', 'pending');
  await lab.sidebar.expectStates('review', 'pending', 'pending');
  // Where one types, they are letters.
  await cell.getByRole('textbox').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type('ab[]');
  await expect(cell).toContainText('ab[]');
  await lab.expectStates('review', 'pending', 'pending');
});
