import * as fs from 'fs';
import * as path from 'path';
import { expect, test } from '../lab/test';

const ROOT = path.resolve(__dirname, '../../..');
const read = (name: string) =>
  fs.readFileSync(path.join(ROOT, 'examples/demo', name), 'utf-8').trim();

test('a real library and the embedded model', async ({ lab, page, stage }) => {
  test.skip(!process.env.EMBEDDED_PICTURE, 'minutes of a model: npm run screenshot:embedded');
  test.setTimeout(1_500_000);
  const { sidebar } = lab;
  const kernel = { name: 'other', display_name: 'Python 3' };
  stage.writeNotebookFor(kernel, 'lamps.ipynb', read('context.py'));
  await lab.goto('lamps.ipynb');
  await expect(page.getByText('Python 3 | Idle')).toBeVisible({ timeout: 60_000 });
  await lab.execute('notebook:run-cell');
  await sidebar.open();
  await lab.widenSidebar(400);
  await sidebar.task.fill(read('task.txt'));
  await sidebar.addLibrary('justhtml');
  await sidebar.unfold('Check');
  await sidebar.check.fill(read('check.py'));
  await expect(sidebar.root.getByText('page').first()).toBeVisible();
  await sidebar.button('Explore').click();

  const isOver = sidebar.button('Cancel');
  await expect(isOver).toBeVisible({ timeout: 60_000 });
  await expect(isOver).toHaveCount(0, { timeout: 1_400_000 });
  for (let step = 0; step < 8 && (await sidebar.status.innerText()).includes('turn'); step++) {
    const { exploration } = await stage.theExploration();
    const open = exploration.steps.findIndex(one => one.status === 'review');
    if (open > 0) {
      break;
    }
    await (open < 0 ? sidebar.button('Explore').click() : sidebar.choose('Accept'));
    await expect(isOver)
      .toHaveCount(1, { timeout: 30_000 })
      .catch(() => undefined);
    await expect(isOver).toHaveCount(0, { timeout: 900_000 });
  }
  await page.mouse.move(640, 795);
  await page.addStyleTag({ content: '.cm-cursor, .Toastify { display: none !important; }' });
  await page.waitForTimeout(1_000);
  await page.screenshot({
    path: path.join(ROOT, 'docs/images/lab-embedded.png'),
    animations: 'disabled',
    scale: 'css'
  });
});
