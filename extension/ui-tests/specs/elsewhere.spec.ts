import * as fs from 'fs';
import * as path from 'path';
import { expect, test } from '../lab/test';

test('a notebook from elsewhere is resumed once its user has seen what would run', async ({
  lab,
  stage
}) => {
  await lab.plan();
  const opened = await stage.theExploration();
  await stage.api('DELETE', `explorations/${opened.exploration.id}`);
  const file = path.join(stage.root, opened.path);
  const made = JSON.parse(fs.readFileSync(file, 'utf-8'));
  made.metadata.exploracoder.id = '0123456789abcdef'.repeat(2);
  made.metadata.exploracoder.task.context = 'text = "<b>from elsewhere</b>"';
  stage.write('foreign.ipynb', JSON.stringify(made));
  const dialog = lab.page.getByRole('dialog').filter({ hasText: 'not made here' });
  const resume = () => lab.execute('exploracoder:resume', { path: stage.path('foreign.ipynb') });

  const refused = resume();
  await expect(dialog).toContainText('text = "<b>from elsewhere</b>"');
  await expect(dialog).toContainText('Sandbox');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await refused;
  const before = (await stage.explorations()).explorations.filter(one => one.is_open);

  const agreed = resume();
  await dialog.getByRole('button', { name: 'Run it' }).click();
  await agreed;

  expect(before).toEqual([]);
  const { exploration } = await stage.theExploration();
  expect(exploration.task.context).toContain('from elsewhere');
});
