import { PART_OF_SOLUTION } from '../lab/lines';
import { Lab } from '../lab/lab';
import { expect, test } from '../lab/test';

test('the page can be loaded again at every stage, and nothing is lost', async ({ lab, stage }) => {
  const { notebook, sidebar } = lab;
  const reload = async () => {
    await lab.reload();
    await sidebar.open();
  };

  await test.step('while it plans', async () => {
    await stage.say({ is_lost: true, seconds: { write: 4 } });
    await lab.openOwnNotebook();
    await sidebar.explore();
    await expect(sidebar.button('Cancel')).toBeVisible();
    await reload();
    await expect(sidebar.items).toHaveCount(3);
  });

  await test.step('with a plan', async () => {
    await reload();
    await expect(sidebar.items).toHaveCount(3);
  });

  await test.step('while it explores', async () => {
    await stage.say({ seconds: { draft: 4 } });
    await lab.goOn();
    await expect.poll(async () => (await stage.asked()).includes('draft')).toBe(true);
    await reload();
    await lab.expectStates('review', 'pending', 'pending');
    await stage.say({});
  });

  await test.step('with a proposal', async () => {
    await reload();
    // A page that was loaded again at once has kept no layout, so that it may not be open.
    await lab.execute('exploracoder:open-notebook');
    await expect(notebook.cell('read_leaves')).toContainText("Leaf(name='assam'");
    await expect(sidebar.candidates.getByRole('tab')).not.toHaveCount(0);
    await lab.accept('done', 'review', 'pending');
  });

  await test.step('with an accepted step', async () => {
    await reload();
    await lab.execute('exploracoder:open-notebook');
    await expect(sidebar.items.first()).toContainText('done');
    await lab.accept('done', 'done', 'review');
    await lab.accept('done', 'done', 'done');
    await sidebar.button('Synthesize').click();
    await expect(notebook.solution).toHaveCount(1);
  });

  await test.step('with a solution', async () => {
    await reload();
    await expect(sidebar.button('Insert into my notebook')).toBeEnabled();
    await lab.execute('exploracoder:open-notebook');
    await expect(notebook.solution).toHaveCount(1);
  });

  const { exploration, path } = await stage.theExploration();
  await expect.poll(() => stage.saved(path).solution).toEqual(exploration.solution);
});

test('an exploration goes on while no tab is open', async ({ context, lab, stage }) => {
  await stage.say({ seconds: { write: 2 } });
  await lab.openOwnNotebook();
  await lab.sidebar.explore({ isAuto: true });
  await expect(lab.sidebar.button('Cancel')).toBeVisible();

  await lab.page.close();

  await lab.expectStates('done', 'done', 'done');
  const { path } = await stage.theExploration();
  // Nobody holds the notebook any more, so that the server has written it.
  await expect.poll(() => stage.saved(path).status).toBe('unverified');
  const later = new Lab(await context.newPage(), stage);
  await later.goto(path.replace(`${stage.folder}/`, ''));
  await later.sidebar.open();
  await expect(later.sidebar.solution).toContainText(PART_OF_SOLUTION);
});
