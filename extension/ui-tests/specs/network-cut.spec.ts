import { expect, test } from '../lab/test';

// A minute, where there is time for it: CUT_SECONDS=60.
const CUT_SECONDS = Number(process.env.CUT_SECONDS ?? 20);

test('after a while without a network, a tab shows what has happened meanwhile', async ({
  lab,
  stage
}) => {
  test.setTimeout(300_000);
  const { notebook, sidebar } = lab;
  await stage.say({ is_lost: true, seconds: { draft: 5 } });
  await lab.plan();
  await lab.goOn();
  await expect.poll(async () => (await stage.asked()).includes('draft')).toBe(true);

  await stage.door('jupyter', false);
  await lab.page.waitForTimeout(CUT_SECONDS * 1000);
  await stage.door('jupyter', true);

  await expect(sidebar.items.first()).toContainText('your turn');
  await lab.dismissForeignDialogs();
  await expect(notebook.cell('read_leaves')).toContainText("Leaf(name='assam'", {
    timeout: 60_000
  });
  await lab.accept('done', 'review', 'pending');
  const { path } = await stage.theExploration();
  await expect.poll(() => stage.saved(path).steps[0]?.status).toBe('done');
});
