import { Lab } from '../lab/lab';
import { expect, test } from '../lab/test';

test('two tabs show one exploration, and what is typed in either is saved', async ({
  context,
  lab,
  stage
}) => {
  await lab.propose();
  const { path } = await stage.theExploration();
  const other = new Lab(await context.newPage(), stage);
  await other.goto(path.replace(`${stage.folder}/`, ''), 'second');
  await other.sidebar.open();
  await expect(other.notebook.cell('read_leaves')).toContainText("Leaf(name='assam'");

  await test.step('what one accepts, both show', async () => {
    await other.sidebar.choose('Accept');
    await lab.expectStates('done', 'review', 'pending');
    await lab.page.bringToFront();
    await expect(lab.sidebar.items.first()).toContainText('done');
    await expect(lab.notebook.cell('Flow')).not.toHaveCount(0);
    await lab.accept('done', 'done', 'review');
    await other.page.bringToFront();
    await expect(other.sidebar.items.nth(1)).toContainText('done');
  });

  await test.step('cells of both are saved', async () => {
    const add = async (tab: Lab, text: string) => {
      await tab.page.bringToFront();
      await tab.notebook.cell('read_leaves').getByRole('textbox').click();
      await tab.execute('notebook:insert-cell-below');
      await tab.execute('notebook:enter-edit-mode');
      await tab.page.keyboard.type(text);
    };
    const saved = () => stage.cells(path).map(one => one.source);
    await add(other, '# of the other');
    await expect.poll(saved).toContain('# of the other');
    await add(lab, '# of the first');
    await expect.poll(saved).toContain('# of the first');
    expect(saved()).toContain('# of the other');
    // A save brings what others have saved.
    await expect(lab.notebook.cell('# of the other')).toHaveCount(1);
  });

  await test.step('when the first is closed, the other goes on and is saved', async () => {
    await lab.page.close();
    await other.accept('done', 'done', 'done');
    await expect
      .poll(() => stage.saved(path).steps.map(step => step.status))
      .toEqual(['done', 'done', 'done']);
  });

  await expect(other.page.getByRole('dialog')).toHaveCount(0);
  expect(other.prompts).toEqual([]);
});
