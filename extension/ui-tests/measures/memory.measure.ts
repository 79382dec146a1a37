import { expect, test } from '../lab/test';
import { record } from './record';

const EXPLORATIONS = 20;

/** The page's heap and the server's memory after many explorations have been made, looked at and closed. */
test('memory', async ({ context, lab, page, stage }) => {
  const { sidebar } = lab;
  // What the page fixture gives is not the page itself.
  const session = await context.newCDPSession(context.pages()[0]!);
  const figures: { [name: string]: number } = { explorations: EXPLORATIONS };
  const measure = async (when: string) => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    figures[`heap_${when}_mb`] = usedSize / 1e6;
    figures[`server_${when}_mb`] = await stage.residentMb();
  };
  await lab.openOwnNotebook();
  await measure('before');
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
      await measure('after_the_first');
    }
  }
  await measure('after_all');
  record('memory', figures);
});
