import { expect, test } from '../lab/test';
import { record } from './record';

const EXPLORATIONS = 20;

/** The page's heap after many explorations have been made, looked at and closed. */
test('memory', async ({ context, lab, page, stage }) => {
  const { sidebar } = lab;
  // What the page fixture gives is not the page itself.
  const session = await context.newCDPSession(context.pages()[0]!);
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return usedSize / 1e6;
  };
  await lab.openOwnNotebook();
  const before = await heap();
  let afterFirst = 0;
  for (let run = 1; run <= EXPLORATIONS; run++) {
    await sidebar.explore({ isAuto: true });
    await expect(sidebar.status).toContainText('Solved', { timeout: 60_000 });
    const { exploration, path } = await stage.theExploration();
    await expect(lab.notebook.solution).toHaveCount(1);
    const closing = lab.execute('exploracoder:close', { id: exploration.id });
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await closing;
    await lab.closePanel(path.split('/').pop()!);
    await expect(sidebar.task).toBeVisible();
    if (run === 1) {
      afterFirst = await heap();
    }
  }
  record('memory', {
    before_mb: before,
    after_first_mb: afterFirst,
    after_all_mb: await heap(),
    explorations: EXPLORATIONS
  });
});
