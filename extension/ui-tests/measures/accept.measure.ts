import { expect, test } from '../lab/test';
import { median, quantile, record } from './record';

const STEPS = 20;

/**
 * Time from the click on Accept until the sidebar shows the step as done, and the next as at work; and
 * until the notebook's file says so, with the requests that takes.
 */
test('accept', async ({ lab, page, stage }) => {
  const { sidebar } = lab;
  let asked = 0;
  page.on('request', () => asked++);
  const draft = 'leaves = list(text)\nprint(len(leaves))';
  const steps = Array.from({ length: STEPS }, (_, index) => index + 1);
  await stage.say({
    goals: steps.map(step => `Count the letters a ${step}. time`),
    drafts: Object.fromEntries(
      steps.map(step => [step, ['```python\n' + draft + `  # ${step}\n` + '```']])
    )
  });
  await lab.openOwnNotebook();
  await sidebar.explore();
  await expect(sidebar.items).toHaveCount(STEPS);
  await lab.goOn();
  const shown: number[] = [];
  const proposed: number[] = [];
  const saved: number[] = [];
  const requests: number[] = [];
  const { path } = await stage.theExploration();
  for (let step = 1; step <= STEPS; step++) {
    await expect(sidebar.items.nth(step - 1)).toContainText('your turn', { timeout: 60_000 });
    // What the proposal itself has to save comes first.
    await page.waitForTimeout(1500);
    asked = 0;
    const clicked = Date.now();
    const isSaved = whenDone(() => stage.saved(path).steps[step - 1].status).then(when => {
      saved.push(when - clicked);
      requests.push(asked);
    });
    const times = await page.evaluate(watch, step);
    await isSaved;
    shown.push(times.shown);
    if (step < STEPS) {
      proposed.push(times.proposed);
    }
  }
  record('accept', {
    shown_median_ms: median(shown),
    shown_p90_ms: quantile(shown, 0.9),
    next_proposal_median_ms: median(proposed),
    saved_median_ms: median(saved),
    requests_median: median(requests),
    steps: STEPS
  });
});

/** When a step's status in the file is that it is done, looked at each few milliseconds. */
async function whenDone(status: () => string): Promise<number> {
  for (;;) {
    try {
      if (status() === 'done') {
        return Date.now();
      }
    } catch {
      // It is being written.
    }
    await new Promise(resolve => setTimeout(resolve, 4));
  }
}

/** In the page: click, and look at each frame for what the click brings about. */
async function watch(step: number): Promise<{ shown: number; proposed: number }> {
  const root = document.querySelector('[aria-label="ExploraCoder"][role=region]');
  const items = () => [...(root?.querySelectorAll('ol[aria-label=Plan] > li') ?? [])];
  const says = (number: number, words: string) =>
    items()[number - 1]?.textContent?.includes(words) ?? false;
  const until = (condition: () => boolean) =>
    new Promise<number>(resolve => {
      const look = () => (condition() ? resolve(performance.now()) : requestAnimationFrame(look));
      look();
    });
  const buttons = [...document.querySelectorAll<HTMLElement>('.jp-exploracoder-strip button')];
  const button = buttons.find(one => one.textContent === 'Accept' && one.ariaDisabled === 'false');
  const clicked = performance.now();
  button?.click();
  const shown = await until(() => says(step, 'done'));
  const isLast = step === items().length;
  const proposed = isLast ? shown : await until(() => says(step + 1, 'your turn'));
  return { shown: shown - clicked, proposed: proposed - clicked };
}
