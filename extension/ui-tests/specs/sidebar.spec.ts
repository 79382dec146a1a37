import { expect, test } from '../lab/test';

test('the sidebar opens wide enough once, and is usable at 280 pixels', async ({ lab }) => {
  const { page, sidebar } = lab;
  await lab.plan();
  const width = async () => (await sidebar.root.boundingBox())!.width;
  expect(await width()).toBeGreaterThanOrEqual(350);

  await test.step('narrow', async () => {
    const handle = page.locator('#jp-main-split-panel > .lm-SplitPanel-handle').first();
    const { height, x, y } = (await handle.boundingBox())!;
    await page.mouse.move(x + 1, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + 281 - (await width()), y + height / 2, { steps: 5 });
    const isSaved = page.waitForResponse(
      answer => answer.url().includes('/api/workspaces') && answer.request().method() === 'PUT'
    );
    await page.mouse.up();
    await isSaved;
    await expect.poll(width).toBeLessThan(300);
    const wide = await sidebar.root
      .locator('.jp-exploracoder-scroll')
      .evaluateAll(parts => parts.filter(part => part.scrollWidth > part.clientWidth + 1).length);
    expect(wide).toBe(0);
  });

  await test.step('its own width stays the user’s', async () => {
    await lab.reload();
    await sidebar.open();
    await page.waitForTimeout(500);
    expect(await width()).toBeLessThan(300);
  });
});

test('the launcher has ExploraCoder once, and the list of all leads from one to another', async ({
  lab
}) => {
  const { page, sidebar } = lab;
  await lab.plan();
  await sidebar.button('New exploration').click();
  await lab.execute('launcher:create');
  await expect(page.locator('.jp-LauncherCard:visible', { hasText: 'ExploraCoder' })).toHaveCount(
    1
  );

  const list = sidebar.root.getByRole('list', { name: 'Explorations' });
  await list
    .getByRole('button', { name: /^Show: / })
    .first()
    .click();
  await expect(sidebar.items).toHaveCount(3);

  await sidebar.button('All explorations').click();
  // The field, or where there are few the first of the list.
  const start = sidebar.root.locator('[type="search"], .jp-exploracoder-entry').first();
  await expect(start).toBeFocused();
  await expect(list.getByRole('listitem').first()).toContainText('Your turn');
  await page.keyboard.press('Escape');
  await expect(sidebar.button('All explorations')).toBeFocused();
  await expect(sidebar.items.first()).toBeVisible();
});
