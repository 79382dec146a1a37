import { Lab } from '../lab/lab';
import { expect, test } from '../lab/test';

test('in Notebook 7 the sidebar explores, and the exploration opens in a tab of its own', async ({
  context,
  stage
}) => {
  stage.writeNotebook('tea.ipynb', 'text = "assam 5; sencha 2; oolong 4"');
  const page = await context.newPage();
  const lab = new Lab(page, stage);
  await page.goto(`${stage.url}/notebooks/${stage.path('tea.ipynb')}?token=${stage.token}`);
  await lab.ready();
  await page.getByText('Tea', { exact: true }).waitFor();
  await lab.execute('exploracoder:open');
  const { sidebar } = lab;
  await expect(sidebar.root).toBeVisible();
  const opened = context.waitForEvent('page');
  await sidebar.explore();
  await expect(sidebar.items).toHaveCount(3);
  await lab.goOn();
  await lab.expectStates('review', 'pending', 'pending');

  const tab = await opened;
  await expect(tab).toHaveURL(/exploration\.ipynb/);
  await expect(tab.locator('.jp-CodeCell').filter({ hasText: 'read_leaves' })).toContainText(
    "Leaf(name='assam'"
  );
  await lab.accept('done', 'review', 'pending');
});
