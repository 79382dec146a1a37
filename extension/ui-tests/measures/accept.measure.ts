import { expect, test } from '../lab/test';
import { median, quantile, record } from './record';

const STEPS = 20;

/** Time from the click on Accept until the sidebar shows the step as done, and the next as at work. */
test('accept', async ({ lab, page, stage }) => {
  const { sidebar } = lab;
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
  for (let step = 1; step <= STEPS; step++) {
    await expect(sidebar.items.nth(step - 1)).toContainText('your turn', { timeout: 60_000 });
    const times = await page.evaluate(watch, step);
    shown.push(times.shown);
    if (step < STEPS) {
      proposed.push(times.proposed);
    }
  }
  record('accept', {
    shown_median_ms: median(shown),
    shown_p90_ms: quantile(shown, 0.9),
    next_proposal_median_ms: median(proposed),
    steps: STEPS
  });
});

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
  const button = [...(root?.querySelectorAll('button') ?? [])].find(
    one => one.textContent === 'Accept'
  );
  const clicked = performance.now();
  button?.click();
  const shown = await until(() => says(step, 'done'));
  const isLast = step === items().length;
  const proposed = isLast ? shown : await until(() => says(step + 1, 'your turn'));
  return { shown: shown - clicked, proposed: proposed - clicked };
}
