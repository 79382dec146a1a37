import { READ, READ_OTHERWISE, READ_THIRDLY, drafts, fenced } from '../lab/lines';
import { expect, test } from '../lab/test';

const THREE = drafts(READ, READ_OTHERWISE, READ_THIRDLY);

test('of several candidates the user takes another than the proposed one', async ({
  lab,
  stage
}) => {
  const { notebook, sidebar } = lab;
  await stage.say({ is_lost: true, drafts: { 1: THREE } });
  await lab.propose();
  const tabs = sidebar.candidates.getByRole('tab');
  // The one that was written at first has failed, and the three drafts come after it.
  await expect(tabs).toHaveCount(4);
  const { exploration } = await stage.theExploration();
  const proposed = exploration.steps[0].candidates.findIndex(
    candidate => candidate.id === exploration.steps[0].chosen
  );
  await expect(tabs.nth(proposed)).toHaveAccessibleName(/proposed/);
  const other = proposed === 3 ? 2 : proposed + 1;

  await tabs.nth(other).click();
  await sidebar.candidate
    .getByRole('combobox', { name: 'Compare with' })
    .selectOption({ label: `Candidate ${proposed + 1}` });
  await expect(sidebar.candidate).toContainText('tealeaf');
  // The cell shows what is looked at, and decides about that.
  const cell = notebook.panel.locator('.jp-CodeCell').nth(1);
  await expect(cell).toContainText(`${other + 1} of 4`);
  await notebook.button('Accept', cell).click();

  await lab.expectStates('done', 'review', 'pending');
  const taken = exploration.steps[0].candidates[other];
  const now = (await stage.theExploration()).exploration.steps[0];
  expect(now.chosen).toBe(taken.id);
  await expect.poll(() => notebook.sources()).toContain(taken.code);
});

test('other candidates can be asked for, and join those that are there', async ({ lab, stage }) => {
  const { notebook, sidebar } = lab;
  await lab.propose();
  const before = await sidebar.candidates.getByRole('tab').count();
  await stage.say({ drafts: { 1: [fenced(READ_OTHERWISE)] } });

  await notebook.tryAgain('Other candidates', notebook.cell('read_leaves'));

  await expect(sidebar.candidates.getByRole('tab')).toHaveCount(before + 1, {
    timeout: 60_000
  });
  await lab.expectStates('review', 'pending', 'pending');
  const { exploration } = await stage.theExploration();
  expect(exploration.steps[0].candidates.map(one => one.code)).toContain(READ_OTHERWISE);
});
