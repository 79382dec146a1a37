import { Browser, Page } from '@playwright/test';
import { Lab } from '../lab/lab';
import { expect, test } from '../lab/test';
import { Stage } from '../lab/stage';

test('two people share an exploration: both see each cell once, and nothing is lost', async ({
  browser,
  lab,
  stage
}) => {
  await lab.propose();
  const { path } = await stage.theExploration();
  const other = await colleague(browser, stage, path);
  const [mine, theirs] = [lab.notebook, other.notebook];
  const shows = (code: string) => Promise.all([once(mine.cell(code)), once(theirs.cell(code))]);
  const bothShowTheSame = () =>
    expect(async () => expect(await ids(other.page)).toEqual(await ids(lab.page))).toPass({
      timeout: 60_000
    });

  await test.step('both see the same cells, each once', async () => {
    await shows('read_leaves');
    await bothShowTheSame();
  });

  await test.step('one writes a cell while the other accepts', async () => {
    await mine.cell('read_leaves').getByRole('textbox').click();
    await lab.execute('notebook:insert-cell-below');
    await lab.execute('notebook:enter-edit-mode');
    const typing = lab.page.keyboard.type('# a note while somebody decides', { delay: 40 });
    await other.sidebar.choose('Accept');
    await typing;
    await lab.expectStates('done', 'review', 'pending');
    await shows('# a note while somebody decides');
    await shows('Flow');
  });

  await test.step('both decide, and everything is in the file', async () => {
    await expect(lab.sidebar.items.first()).toContainText('done');
    await lab.accept('done', 'done', 'review');
    await expect(other.sidebar.items.nth(1)).toContainText('done');
    await other.accept('done', 'done', 'done');
    const saved = () => stage.cells(path).map(one => one.source);
    await expect.poll(saved).toContain('# a note while somebody decides');
    await expect
      .poll(() => stage.saved(path).steps.map(step => step.status))
      .toEqual(['done', 'done', 'done']);
    await bothShowTheSame();
    expect(new Set(await ids(lab.page)).size).toBe((await ids(lab.page)).length);
  });

  await other.page.close();
});

/** Another person's browser, with the exploration's notebook open. */
async function colleague(browser: Browser, stage: Stage, path: string): Promise<Lab> {
  const context = await browser.newContext();
  const lab = new Lab(await context.newPage(), stage);
  await lab.goto(path.replace(`${stage.folder}/`, ''));
  await lab.sidebar.open();
  return lab;
}

async function once(cell: ReturnType<Lab['notebook']['cell']>): Promise<void> {
  await expect(cell).toHaveCount(1);
}

/** The ids of the cells in the exploration's notebook. */
function ids(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { shell } = (window as unknown as { jupyterapp: { shell: IShell } }).jupyterapp;
    const panel = [...shell.widgets('main')].find(one => /exploration/.test(one.title.label));
    return panel?.content.model.sharedModel.cells.map(cell => cell.id) ?? [];
  });
}

interface IShell {
  widgets(area: string): Iterable<{
    title: { label: string };
    content: { model: { sharedModel: { cells: { id: string }[] } } };
  }>;
}
