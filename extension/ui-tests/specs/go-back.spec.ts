import { CHECK } from '../lab/lines';
import { menuItem } from '../lab/sidebar';
import { expect, test } from '../lab/test';

test('the user goes back two steps, and on again to the solution', async ({ lab, stage }) => {
  const { notebook, sidebar } = lab;
  await lab.openOwnNotebook();
  await sidebar.explore({ check: CHECK });
  await expect(sidebar.items).toHaveCount(3);
  await lab.goOn();
  await lab.expectStates('review', 'pending', 'pending');
  await lab.accept('done', 'review', 'pending');
  await lab.accept('done', 'done', 'review');
  const asked = (await stage.asked()).length;

  await notebook.button('More about this subtask', notebook.cell('read_leaves')).click();
  await menuItem(lab.page, 'Go back here').click();

  await lab.expectStates('review', 'pending', 'pending');
  // What was found before is still there, and needs no model to be accepted again.
  await expect(sidebar.candidates.getByRole('tab')).not.toHaveCount(0);
  expect((await stage.asked()).length).toBe(asked);
  await lab.accept('done', 'review', 'pending');
  await lab.accept('done', 'done', 'review');
  await lab.accept('done', 'done', 'done');
  await sidebar.button('Synthesize').click();
  await expect(sidebar.status).toContainText('Solved and verified');
});
