import { expect, test } from '../lab/test';

test('a plan that is long in coming can be cancelled, and asked for again', async ({
  lab,
  stage
}) => {
  const { sidebar } = lab;
  await stage.say({ seconds: { write: 120 } });
  await lab.openOwnNotebook();
  await sidebar.explore();

  await sidebar.button('Cancel').click();

  await expect(sidebar.status).toContainText('Paused');
  await stage.say({});
  await sidebar.button('Resume').click();
  await expect(sidebar.items).toHaveCount(3);
});

test('what was accepted stays when the next step is cancelled', async ({ lab, stage }) => {
  const { sidebar } = lab;
  await stage.say({ is_lost: true });
  await lab.propose();
  await stage.say({ seconds: { draft: 120, rerank: 120 } });
  await sidebar.choose('Accept');
  await lab.expectStates('done', 'pending', 'pending');

  await sidebar.button('Cancel').click();

  await expect(sidebar.button('Cancel')).toHaveCount(0);
  await lab.expectStates('done', 'pending', 'pending');
  const { exploration, path } = await stage.theExploration();
  expect(exploration.status).not.toBe('running');
  await expect.poll(() => stage.saved(path).steps[0]?.status).toBe('done');
  await stage.say({});
  await lab.goOn();
  await lab.expectStates('done', 'review', 'pending');
});

test('a snippet that never ends is ended by Cancel', async ({ lab, stage }) => {
  const { sidebar } = lab;
  await stage.say({
    is_lost: true,
    drafts: { 1: ['```python\nimport time\nwhile True:\n    time.sleep(0.1)\n```'] }
  });
  await lab.plan();
  await lab.goOn();
  await expect.poll(async () => (await stage.asked()).includes('draft')).toBe(true);

  await sidebar.button('Cancel').click();

  // Sooner than the run's own limit of 30 s.
  await expect(sidebar.button('Cancel')).toHaveCount(0, { timeout: 25_000 });
  expect((await stage.theExploration()).progress.activity).not.toBe('working');
});
