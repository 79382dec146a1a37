import { expect, test } from '../lab/test';
import { quantile, record } from './record';

const STEPS = 40;
const CANDIDATES = 5;

/** Frames while an exploration of 40 subtasks with 5 candidates each is scrolled and changes. */
test('large', async ({ lab, page, stage }) => {
  const { notebook, sidebar } = lab;
  const steps = Array.from({ length: STEPS }, (_, index) => index + 1);
  const draft = (step: number, number: number) =>
    '```python\n' +
    `row${step} = [leaf * ${number} for leaf in text.split()]\nprint(row${step}[:${number}])` +
    '\n```';
  const numbers = Array.from({ length: CANDIDATES }, (_, index) => index + 1);
  await stage.say({
    goals: steps.map(step => `Make row ${step} of the table out of the text`),
    drafts: Object.fromEntries(
      steps.map(step => [step, [numbers.map(number => draft(step, number))]])
    )
  });
  await lab.openOwnNotebook();
  // The form asks for no settings of this kind, so that the request is made by hand.
  await stage.api('POST', 'explorations', {
    task: 'Make a table out of the text.',
    libraries: ['tealeaf'],
    context: 'text = "assam sencha oolong"',
    path: stage.path('tea.ipynb'),
    kernel_name: 'tea',
    mode: 'auto',
    settings: { candidates: CANDIDATES, max_subtasks: STEPS }
  });
  await sidebar.open();
  const { path } = await stage.theExploration();
  const id = (await stage.theExploration()).exploration.id;
  await lab.execute('exploracoder:open-notebook', { id });
  await stage.command(id, { kind: 'go_on' }).catch(() => undefined);
  const working = await frames(page, () => stageIsDone());
  await expect.poll(() => stage.saved(path).solution !== null, { timeout: 600_000 }).toBe(true);
  const plan = await frames(page, () => scroll(sidebar.root.locator('.jp-exploracoder-scroll')));
  const cells = await frames(page, () => scroll(notebook.panel.locator('.jp-WindowedPanel-outer')));
  record('large', {
    working_p95_ms: quantile(working, 0.95),
    working_worst_ms: Math.max(...working),
    scrolling_sidebar_p95_ms: quantile(plan, 0.95),
    scrolling_notebook_p95_ms: quantile(cells, 0.95)
  });

  async function stageIsDone(): Promise<void> {
    await expect
      .poll(async () => (await stage.states()).every(state => state !== 'pending'), {
        timeout: 800_000,
        intervals: [2_000]
      })
      .toBe(true);
  }

  async function scroll(where: ReturnType<typeof page.locator>): Promise<void> {
    await where.first().hover();
    for (let turn = 0; turn < 40; turn++) {
      await page.mouse.wheel(0, turn < 20 ? 300 : -300);
      await page.waitForTimeout(50);
    }
  }
});

/** Milliseconds between frames while something happens. */
async function frames(
  page: import('@playwright/test').Page,
  doing: () => Promise<void>
): Promise<number[]> {
  await page.evaluate(() => {
    const own = window as unknown as { frames: number[]; isWatched: boolean };
    own.frames = [];
    own.isWatched = true;
    let last = performance.now();
    const look = (now: number) => {
      own.frames.push(now - last);
      last = now;
      if (own.isWatched) {
        requestAnimationFrame(look);
      }
    };
    requestAnimationFrame(look);
  });
  await doing();
  return page.evaluate(() => {
    const own = window as unknown as { frames: number[]; isWatched: boolean };
    own.isWatched = false;
    return own.frames.slice(1);
  });
}
