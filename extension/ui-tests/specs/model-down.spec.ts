import { expect, test } from '../lab/test';

test('when the model cannot be reached in the middle, it says so and goes on later', async ({
  lab,
  stage
}) => {
  const { sidebar } = lab;
  test.setTimeout(240_000);
  // A cell that runs as it was written needs no model.
  await stage.say({ is_lost: true });
  await lab.propose();

  await stage.door('model', false);
  await sidebar.choose('Accept');

  await expect(sidebar.root.getByRole('alert')).toContainText(/model|reach|connect/i, {
    timeout: 120_000
  });
  // Accepting needs no model: that has happened.
  await lab.expectStates('done', 'pending', 'pending');
  const { path } = await stage.theExploration();
  await expect.poll(() => stage.saved(path).steps[0]?.status).toBe('done');

  await stage.door('model', true);
  await lab.goOn();
  await lab.expectStates('done', 'review', 'pending');
  await expect(sidebar.root.getByRole('alert')).toHaveCount(0);
});

test('a model that refuses is quoted', async ({ lab, stage }) => {
  await stage.say({ scripts: [{ status: 401, message: 'Incorrect API key provided.' }] });
  await lab.openOwnNotebook();
  await lab.sidebar.explore();

  await expect(lab.sidebar.root.getByRole('alert')).toContainText(/key/i, {
    timeout: 60_000
  });
});
