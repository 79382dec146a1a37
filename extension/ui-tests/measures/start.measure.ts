import { test } from '@playwright/test';
import { Lab } from '../lab/lab';
import { Stage } from '../lab/stage';
import { record } from './record';

/** Time until JupyterLab has restored its layout, in a browser that has seen it before. */
test('start', async ({ page }) => {
  const stage = new Stage('start');
  const lab = new Lab(page, stage);
  stage.writeNotebook('tea.ipynb', 'text = "assam 5"');
  await lab.goto('tea.ipynb');
  const times: number[] = [];
  for (let run = 0; run < 3; run++) {
    const started = Date.now();
    await lab.reload();
    times.push(Date.now() - started);
  }
  const bytes = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(entry => entry.name.includes('/extensions/exploracoder/'))
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).decodedBodySize, 0)
  );
  record('start', { milliseconds: Math.min(...times), bytes });
});
