import { expect, test } from '../lab/test';

test('a sidecar that is killed is replaced, and what was accepted is there', async ({
  lab,
  stage
}) => {
  const { sidebar } = lab;
  await lab.propose();
  await lab.accept('done', 'review', 'pending');
  const before = await stage.theExploration();

  await lab.dismissWhatJupyterLabSaysOfKernels();
  await stage.killKernel(before.kernel_id);

  await expect
    .poll(async () => (await stage.theExploration()).progress)
    .toMatchObject({ activity: 'review', error: expect.stringContaining('was started again') });
  await lab.accept('done', 'done', 'review');
  const after = (await stage.theExploration()).exploration;
  expect(after.steps[0]).toEqual(before.exploration.steps[0]);
  // Its state was made anew: the second step needs what the first has left behind.
  await sidebar.select(2);
  await expect(sidebar.candidate).toContainText('[5, 4]');
});

test('a sidecar that is killed at work is replaced, and the work can go on', async ({
  lab,
  stage
}) => {
  await stage.say({ is_lost: true });
  await lab.propose();
  await stage.say({
    drafts: { 2: ['```python\nimport time\ntime.sleep(60)\n```'] }
  });
  await lab.sidebar.choose('Accept');
  await expect.poll(async () => (await stage.asked()).includes('draft')).toBe(true);
  const { kernel_id } = await stage.theExploration();

  await lab.dismissWhatJupyterLabSaysOfKernels();
  await stage.killKernel(kernel_id);
  await stage.say({});

  // What it was at goes on by itself.
  await lab.expectStates('done', 'review', 'pending');
});
