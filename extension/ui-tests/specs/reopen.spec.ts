import * as fs from 'fs';
import { CHECK } from '../lab/lines';
import { expect, test } from '../lab/test';

test('from the file browser an exploration is resumed, and run again without a model', async ({
  lab,
  stage
}) => {
  const { page, sidebar } = lab;
  await lab.openOwnNotebook();
  await sidebar.explore({ check: CHECK, isAuto: true });
  await lab.expectStates('done', 'done', 'done');
  await expect(sidebar.status).toContainText('Solved');
  const { exploration, path } = await stage.theExploration();
  const name = path.replace(`${stage.folder}/`, '');
  await stage.api('DELETE', `explorations/${exploration.id}`);
  await expect(lab.notebook.button('Resume')).toBeVisible();
  await lab.goto();
  await lab.execute('filebrowser:open-path', { path: stage.folder });
  await stage.say({});
  const file = page.getByRole('listitem', { name: new RegExp(name) });

  await test.step('replay', async () => {
    await file.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Replay exploration' }).click();
    const table = page.getByRole('dialog');
    await expect(table).toContainText('same');
    await expect(table).not.toContainText('failed');
    await page.keyboard.press('Escape');
    expect(await stage.asked()).toEqual([]);
  });

  await test.step('replay where something is not as it was', async () => {
    const whole = `${stage.root}/${path}`;
    const before = fs.readFileSync(whole, 'utf-8');
    const other = before.replaceAll('assam 5', 'assam 9');
    // Newer than what the server remembers.
    fs.writeFileSync(whole, other.replace(/"revision": \d+/, '"revision": 1000'));
    await file.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Replay exploration' }).click();
    // What somebody else may have written runs only once it was agreed to.
    await page
      .getByRole('dialog')
      .filter({ hasText: 'not made here' })
      .getByRole('button', { name: 'Run it' })
      .click();
    const table = page.getByRole('dialog');
    await expect(table).toContainText('changed');
    await expect(table).toContainText("removed: [Leaf(name='assam', strength=5)");
    await expect(table).toContainText("added: [Leaf(name='assam', strength=9)");
    await page.keyboard.press('Escape');
    fs.writeFileSync(whole, before);
  });

  await test.step('resume', async () => {
    await file.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Resume exploration' }).click();
    await expect(sidebar.items).toHaveCount(3);
    await expect(sidebar.items.first()).toContainText('done');
    expect((await stage.theExploration()).exploration.id).toBe(exploration.id);
  });
});

test('past explorations are listed, and one can be resumed from there', async ({ lab, stage }) => {
  const { sidebar } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');
  const { exploration } = await stage.theExploration();
  await stage.api('DELETE', `explorations/${exploration.id}`);
  await expect(lab.notebook.button('Resume')).toBeVisible();
  await lab.goto();
  await sidebar.open();

  await sidebar.root
    .getByRole('list', { name: 'Explorations' })
    .getByRole('button', { name: /^Resume: / })
    .first()
    .click();

  await lab.expectStates('done', 'review', 'pending');
});
