import type { Locator } from '@playwright/test';
import { findings } from '../lab/axe';
import { THEMES } from '../lab/lab';
import { CHECK, CONTEXT, TASK } from '../lab/lines';
import { expect, test } from '../lab/test';

// These are played on a stage without any model, in their order: the last has it fetched.
test.describe.configure({ mode: 'serial' });
test.beforeEach(({ stage }) => stage.forgetSettings());

test('a model that runs on this machine is offered, and used once it is chosen', async ({
  lab,
  stage
}) => {
  const { page, sidebar } = lab;
  await lab.openOwnNotebook();
  await sidebar.open();
  const first = sidebar.root.getByRole('group', { name: 'A model first' });
  await expect(first).toContainText('a model is needed');
  await expect(sidebar.button('Explore')).toHaveCount(0);
  expect(await stage.asked()).toEqual([]);

  const remembered = page.waitForResponse(/api\/settings\/exploracoder/);
  await first.getByRole('button', { name: 'Use scripted (Ollama)' }).click();
  await remembered;
  await expect(sidebar.button('Explore')).toBeFocused();
  await expect(sidebar.model).toContainText('scripted');
  await lab.reload();
  await sidebar.open();
  await expect(sidebar.model).toContainText('scripted');
  await sidebar.explore({ check: CHECK, isAuto: true });
  await expect(sidebar.status).toContainText('Solved', { timeout: 60_000 });

  const { exploration, path } = await stage.theExploration();
  expect(exploration.choice).toEqual({
    name: 'scripted',
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
  });
  await expect.poll(() => stage.saved(path).choice).toEqual(exploration.choice);
});

test('what was explored with a model that is gone goes on with another, once that is said', async ({
  lab,
  stage
}) => {
  const { page, sidebar } = lab;
  await lab.openOwnNotebook();
  await sidebar.open();
  await sidebar.button('Use scripted (Ollama)').click();
  await sidebar.explore();
  await expect(sidebar.items).toHaveCount(3);
  const { exploration, path } = await stage.theExploration();
  const gone = exploration.choice.base_url;
  await stage.api('DELETE', `explorations/${exploration.id}`);

  await stage.door('model', false);
  const resume = sidebar.root.getByRole('button', { name: 'Resume' }).first();
  await resume.click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText(`No model server answers at ${gone}`);
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await stage.door('model', true);
  await resume.click();
  const open = async () =>
    (await stage.explorations()).explorations.filter(one => one.is_open).map(one => one.path);
  await expect.poll(open, { timeout: 30_000 }).toEqual([path]);
});

test('the chip shows what there is to choose, by keyboard, in 280 pixels and every theme', async ({
  lab
}) => {
  const { page, sidebar } = lab;
  await lab.openOwnNotebook();
  await sidebar.open();
  await lab.widenSidebar(280);
  await expect(sidebar.model).toContainText('No model yet');
  await sidebar.model.focus();
  await page.keyboard.press('Enter');
  const menu = sidebar.root.getByRole('group', { name: 'Model and sandbox' });
  const embedded = menu.getByRole('radio', { name: /^qwen.*embedded.*Apache-2\.0/ });
  await expect(embedded).toBeFocused();
  await expect(menu.getByRole('radio', { name: 'scripted Ollama' })).toBeVisible();
  await sidebar.unfold('Another endpoint');
  for (const theme of THEMES) {
    await lab.setTheme(theme);
    expect(await findings(page), theme).toEqual([]);
    const isCut = await sidebar.root
      .locator('.jp-exploracoder-scroll')
      .evaluate(element => element.scrollWidth > element.clientWidth);
    expect(isCut).toBe(false);
  }

  const address = menu.getByRole('textbox', { name: 'Address' });
  await address.fill('nowhere');
  await address.press('Enter');
  await expect(menu.getByRole('alert').filter({ hasText: 'looks like' })).toBeVisible();
  await address.fill('http://127.0.0.1:9/v1');
  await menu.getByRole('textbox', { name: 'Model' }).fill('tea');
  await menu.getByRole('textbox', { name: 'Model' }).press('Enter');
  await expect(menu.getByRole('radio', { name: 'tea http://127.0.0.1:9/v1' })).toBeChecked();
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
  await expect(sidebar.model).toBeFocused();
  await expect(sidebar.model).toContainText('tea');
  await expect(sidebar.button('Explore')).toBeVisible();
});

test('from nothing to the first solved task in six clicks besides the download', async ({
  lab,
  stage
}) => {
  const { page, sidebar } = lab;
  let clicks = 0;
  const click = async (place: Locator) => {
    clicks += 1;
    await place.click();
  };
  await lab.goto();
  await click(page.locator('.jp-LauncherCard[data-category="Notebook"][title="Tea"]'));
  await expect(page.getByText('Tea | Idle')).toBeVisible({ timeout: 60_000 });
  await page.keyboard.insertText(CONTEXT);
  await page.keyboard.press('Shift+Enter');
  await click(sidebar.tab);
  await expect(sidebar.task).toBeFocused();
  await page.keyboard.insertText(`${TASK} Use tealeaf.`);

  await expect(sidebar.button('Remove tealeaf')).toBeVisible();

  // The download, which may be ended and gone on with.
  await sidebar.button('Download (12 MB)').click();
  const progress = sidebar.root.getByRole('progressbar', { name: /Download/ });
  await expect(progress).toHaveAttribute('aria-valuenow', /^[1-9]/);
  await sidebar.button('Cancel the download').click();
  await sidebar.root.getByRole('button', { name: /^Go on downloading \(\d+ MB left\)/ }).click();
  await expect(progress).toBeVisible();
  await expect(sidebar.button('Explore')).toBeFocused({ timeout: 60_000 });

  await click(sidebar.root.locator('summary').getByText('Check', { exact: true }));
  await page.keyboard.press('Tab');
  await page.keyboard.insertText(CHECK);
  await click(sidebar.root.getByRole('checkbox', { name: 'Review each step' }));
  await click(sidebar.button('Explore'));
  await expect(sidebar.status).toContainText('Solved', { timeout: 60_000 });
  await click(sidebar.button('Insert into my notebook'));

  await expect(
    page.locator('.jp-Notebook .jp-CodeCell').filter({ hasText: 'strength' })
  ).not.toHaveCount(0);
  expect(clicks).toBeLessThanOrEqual(6);
  const { exploration } = await stage.theExploration();
  expect(exploration.model).toMatch(/^qwen/);
  expect(exploration.status).toBe('solved');
});
