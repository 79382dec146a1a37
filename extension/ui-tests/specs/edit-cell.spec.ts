import { READ, READ_WRONGLY } from '../lab/lines';
import { expect, test } from '../lab/test';

const FEWER = 'import tealeaf\nleaves = tealeaf.read_leaves(text)[:1]\nprint(leaves[0].name)';
const OWN = `${READ}\nprint("by hand:", len(leaves))`;

test('a cell that the user edits and runs becomes their candidate, and the chain goes on', async ({
  lab,
  stage
}) => {
  const { notebook, sidebar } = lab;
  await lab.propose();

  await notebook.runByHand(notebook.cell('read_leaves'), OWN);

  await expect(notebook.cell('by hand')).toContainText('by hand: 3');
  await lab.expectStates('done', 'review', 'pending');
  const { exploration, path } = await stage.theExploration();
  const first = exploration.steps[0];
  const chosen = first.candidates.find(one => one.id === first.chosen);
  expect(chosen).toMatchObject({ origin: 'user', code: OWN });
  await expect.poll(() => stage.cells(path).map(cell => cell.source)).toContain(OWN);
  await sidebar.expectTurn();
  await sidebar.select(1);
  await expect(sidebar.candidate).toContainText('your own');
});

test('a cell that fails when it is run by hand changes nothing that was accepted', async ({
  lab,
  stage
}) => {
  const { notebook } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');

  await notebook.runByHand(notebook.cell('read_leaves'), READ_WRONGLY);

  await expect(notebook.panel).toContainText("has no attribute 'reed'");
  await expect
    .poll(async () => (await stage.theExploration()).exploration.steps[0].candidates.length)
    .toBeGreaterThan(1);
  const first = (await stage.theExploration()).exploration.steps[0];
  const chosen = first.candidates.find(one => one.id === first.chosen);
  expect(first.status).toBe('done');
  expect(chosen?.code).toBe(READ);
});

test('what runs by hand in an earlier cell is what the later steps stand on', async ({
  lab,
  stage
}) => {
  const { notebook } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');
  await lab.accept('done', 'done', 'review');

  await notebook.runByHand(notebook.cell('read_leaves'), FEWER);

  await expect(notebook.cell('leaves[0].name')).toContainText('assam');
  await expect
    .poll(async () => {
      const { exploration } = await stage.theExploration();
      const first = exploration.steps[0];
      return first.candidates.find(one => one.id === first.chosen)?.code;
    })
    .toBe(FEWER);
  // The second step runs on the new state too: it stays accepted, and shows what it does now.
  await lab.expectStates('done', 'done', 'review');
  await expect(notebook.cell('Flow(leaves)')).toContainText('[5]');
});
