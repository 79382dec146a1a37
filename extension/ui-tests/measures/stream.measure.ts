import { expect, test } from '../lab/test';
import { median, quantile, record } from './record';

const ROUNDS = 8;

/** From the first text that the model sends until the page shows it, and from Explore to a sign. */
test('stream', async ({ lab, page, stage }) => {
  test.setTimeout(600_000);
  const { sidebar } = lab;
  const shown: number[] = [];
  const answered: number[] = [];
  await lab.openOwnNotebook();
  for (let round = 0; round < ROUNDS; round++) {
    await stage.say({ piece_seconds: 0.1 });
    await page.evaluate(watch);
    await sidebar.explore();
    await expect(sidebar.items).toHaveCount(3, { timeout: 60_000 });
    const seen = await page.evaluate(() => (window as unknown as ISeen).seen);
    shown.push(seen.text - (await stage.streamedAt()));
    answered.push(seen.sign - seen.click);
    await sidebar.expectTurn();
    await sidebar.button('New exploration').click();
  }
  record('stream', {
    shown_median_ms: median(shown),
    shown_p90_ms: quantile(shown, 0.9),
    sign_median_ms: median(answered),
    rounds: ROUNDS
  });
});

interface ISeen {
  seen: { click: number; sign: number; text: number };
}

/** In the page: note when Explore is pressed, when anything answers that, and when text is shown. */
function watch(): void {
  const seen = { click: 0, sign: 0, text: 0 };
  (window as unknown as ISeen).seen = seen;
  const root = document.querySelector('[aria-label="ExploraCoder"][role=region]');
  const onClick = (event: Event) => {
    if ((event.target as Element).closest('button')?.textContent === 'Explore') {
      seen.click = seen.click || Date.now();
    }
  };
  root?.addEventListener('click', onClick, true);
  const look = () => {
    if (seen.click && !seen.sign && /Starting|Reading|Writing/.test(root?.textContent ?? '')) {
      seen.sign = Date.now();
    }
    const text = document.querySelector('[aria-label="Being written"] pre')?.textContent;
    if (text) {
      seen.text = Date.now();
    } else {
      requestAnimationFrame(look);
    }
  };
  requestAnimationFrame(look);
}
