import * as path from 'path';
import { CHECK, READ, READ_OTHERWISE, READ_WRONGLY, TASK, LIBRARY, fenced } from '../lab/lines';
import type { Theme } from '../lab/lab';
import { expect, test } from '../lab/test';

const FOLDER = path.resolve(__dirname, '../../../docs/images');
const LOOKS: [string, Theme][] = [
  ['light', 'JupyterLab Light'],
  ['dark', 'JupyterLab Dark']
];

for (const [look, theme] of LOOKS) {
  test(`the stages of an exploration, ${look}`, async ({ lab, page, stage }) => {
    const { notebook, sidebar } = lab;
    const picture = async (name: string) => {
      await page.mouse.move(640, 795);
      // Toasts and cursors are different each time.
      await page.addStyleTag({ content: '.cm-cursor, .Toastify { display: none !important; }' });
      await page.waitForTimeout(600);
      await page.screenshot({
        path: path.join(FOLDER, `lab-${name}-${look}.png`),
        animations: 'disabled',
        scale: 'css'
      });
    };
    await stage.say({
      is_lost: true,
      drafts: { 1: [[fenced(READ), fenced(READ_OTHERWISE), fenced(READ_WRONGLY)]] }
    });
    await lab.openOwnNotebook('leaves.ipynb');
    await lab.setTheme(theme);
    await sidebar.open();
    await lab.widenSidebar(380);
    await sidebar.task.fill(TASK);
    await sidebar.addLibrary(LIBRARY);
    await sidebar.unfold('Context');
    await picture('task');

    await sidebar.explore({ libraries: [], check: CHECK });
    await expect(sidebar.items).toHaveCount(3);
    await expect(notebook.panel).toBeVisible();
    await picture('plan');

    await lab.goOn();
    await lab.expectStates('review', 'pending', 'pending');
    await expect(notebook.cell('read_leaves')).toBeVisible();
    await picture('review');

    await sidebar.candidates.getByRole('tab').filter({ hasText: 'failed' }).first().click();
    await sidebar.candidates.scrollIntoViewIfNeeded();
    await picture('candidate');

    await sidebar.candidates.locator('[role=tab][aria-current]').click();
    await lab.accept('done', 'review', 'pending');
    await lab.accept('done', 'done', 'review');
    await lab.accept('done', 'done', 'done');
    await sidebar.button('Synthesize').click();
    await expect(sidebar.status).toContainText('Solved');
    await notebook.solution.scrollIntoViewIfNeeded();
    await sidebar.button('Insert into my notebook').scrollIntoViewIfNeeded();
    await picture('solution');

    await sidebar.button('Insert into my notebook').click();
    await expect(lab.own('leaves.ipynb').locator('.jp-CodeCell')).toHaveCount(2);
    await picture('inserted');
  });
}
