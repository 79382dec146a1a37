import { READ, READ_WRONGLY, fenced } from '../lab/lines';
import { menuItem } from '../lab/sidebar';
import { expect, test } from '../lab/test';

test('a candidate that fails is shown with its error, and can be repaired', async ({
  lab,
  stage
}) => {
  const { notebook, sidebar } = lab;
  // The engine repairs once by itself: that fails too, and then it is the user's turn.
  await stage.say({
    drafts: { 1: [fenced(READ_WRONGLY)] },
    debugs: { 1: [fenced(READ_WRONGLY + '\n')] }
  });
  await lab.plan();
  await lab.goOn();
  await expect(sidebar.items.first()).toContainText('nothing ran');
  await sidebar.select(1);
  await expect(sidebar.candidate).toContainText("no attribute 'reed'");
  await expect(sidebar.candidate).toContainText('not in this version');
  await expect(notebook.button('Accept')).toHaveCount(0);

  await stage.say({ debugs: { 1: [fenced(READ)] } });
  await sidebar.button('More about this candidate').click();
  await menuItem(lab.page, 'Debug').click();

  await lab.expectStates('review', 'pending', 'pending');
  await expect(sidebar.candidate).toContainText('repaired by the model');
  await expect(sidebar.candidate).toContainText("Leaf(name='assam'");
  await expect(notebook.cell('read_leaves')).toContainText("Leaf(name='assam'");
  await lab.accept('done', 'review', 'pending');
});

test('a candidate that ran but is not what was meant can be debugged too', async ({
  lab,
  stage
}) => {
  const { notebook, sidebar } = lab;
  await lab.propose();
  await stage.say({
    debugs: { 1: [fenced(`${READ}\nprint("in", len(leaves), "kinds")`)] }
  });

  await notebook.tryAgain('Debug', notebook.cell('read_leaves'), 'Say how many kinds');

  await expect(sidebar.candidate).toContainText('in 3 kinds');
  await expect(notebook.cell('read_leaves')).toContainText('in 3 kinds');
  await lab.expectStates('review', 'pending', 'pending');
});
