import { findings } from '../lab/axe';
import { CHECK, READ, READ_WRONGLY, drafts } from '../lab/lines';
import { THEMES } from '../lab/lab';
import { expect, test } from '../lab/test';

test('axe finds nothing serious at any stage in any theme', async ({ lab, stage }) => {
  const { page, sidebar } = lab;
  const expectNoFindings = async () => {
    for (const theme of THEMES) {
      await lab.setTheme(theme);
      expect(await findings(page), theme).toEqual([]);
    }
  };
  await lab.openOwnNotebook();
  await sidebar.open();

  await test.step('the empty form', expectNoFindings);
  await test.step('the form with its parts open', async () => {
    await sidebar.unfold('Context');
    await sidebar.unfold('Check');
    await expectNoFindings();
    await sidebar.libraries.fill('te');
    expect(await findings(page)).toEqual([]);
    await sidebar.libraries.fill('');
  });
  await test.step('a plan', async () => {
    await stage.say({
      is_lost: true,
      drafts: { 1: drafts(READ, READ_WRONGLY), 2: ['```python\n1 / 0\n```'] }
    });
    await sidebar.explore({ check: CHECK });
    await expect(sidebar.items).toHaveCount(3);
    await sidebar.select(1);
    await expectNoFindings();
  });
  await test.step('a proposal', async () => {
    await lab.goOn();
    await lab.expectStates('review', 'pending', 'pending');
    await sidebar.docs.getByText('tealeaf.read_leaves').first().click();
    await lab.notebook.button('Try again').first().click();
    await expectNoFindings();
    await page.keyboard.press('Escape');
  });
  await test.step('candidates that failed', async () => {
    await sidebar.candidates
      .getByRole('tab', { name: /failed/ })
      .last()
      .click();
    await expectNoFindings();
  });
  await test.step('a solution', async () => {
    await stage.say({});
    await sidebar.candidates.getByRole('tab', { name: /proposed/ }).click();
    await lab.accept('done', 'review', 'pending');
    await lab.accept('done', 'done', 'review');
    await lab.accept('done', 'done', 'done');
    await sidebar.button('Synthesize').click();
    await expect(sidebar.status).toContainText('Solved');
    await expectNoFindings();
  });
});
