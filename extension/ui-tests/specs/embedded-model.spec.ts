import { CHECK } from '../lab/lines';
import { expect, test } from '../lab/test';

test('the embedded model explores from the task to a solution', async ({ lab, stage }) => {
  test.setTimeout(1_500_000);
  await lab.openOwnNotebook();
  await lab.sidebar.explore({ check: CHECK, isAuto: true });

  await expect(lab.sidebar.button('Cancel')).toBeVisible({ timeout: 60_000 });
  await expect(lab.sidebar.button('Cancel')).toHaveCount(0, { timeout: 1_400_000 });

  // How well it does is measured elsewhere: here it is at the end of its work, and says so.
  const { exploration, path } = await stage.theExploration();
  expect(['solved', 'unverified', 'failed']).toContain(exploration.status);
  // A first try that the check accepts leaves nothing to plan.
  expect(exploration.steps.length > 0 || exploration.status === 'solved').toBe(true);
  expect(exploration.solution).not.toBeNull();
  expect(exploration.model).toMatch(/qwen/i);
  await expect.poll(() => stage.saved(path).status).toBe(exploration.status);
  await expect(lab.notebook.panel).toBeVisible();
});
