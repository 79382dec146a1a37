import * as fs from 'fs';
import * as path from 'path';
import { fenced } from '../lab/lines';
import { expect, test } from '../lab/test';

const SPIKES = path.resolve(__dirname, '../../../tests/browser/packages/spikes');
const HURT = `<img src=x onerror="window.hurt='HERE'"><script>window.hurt='HERE'</script>`;

/** Something that would run if it were taken for markup, and says where. */
function spike(where: string): string {
  return HURT.replaceAll('HERE', where);
}

test('markup and script in whatever comes from elsewhere are shown and never run', async ({
  lab,
  stage
}) => {
  const { notebook, sidebar } = lab;
  // Names of files and folders may hold anything but a slash.
  const folder = `<img src=x onerror="window.hurt='folder'">`;
  fs.cpSync(SPIKES, path.join(stage.root, stage.folder, folder, 'spikes'), {
    recursive: true
  });
  const own = `<b onmouseover="window.hurt='file'">spiky<b>.ipynb`;
  await stage.say({
    goals: [`Read spikes ${spike('goal')}`, `Show them ${spike('goal2')}`],
    drafts: {
      1: [
        fenced(
          `import spikes\nparts = spikes.read_spikes(text)  # ${spike('code')}\nprint(${JSON.stringify(spike('stdout'))})`
        )
      ],
      2: [fenced(`spikes.Spike()`)]
    },
    solutions: [fenced(`import spikes\nparts = spikes.read_spikes(text)\n"${'x'}"`)]
  });
  await lab.openOwnNotebook(own);
  await sidebar.explore({
    task: `Read spikes ${spike('task')}`,
    libraries: [`./${stage.path(folder)}/spikes`]
  });
  await expect(sidebar.items).toHaveCount(2);
  await expect(sidebar.items.first()).toContainText('<img src=x');
  await lab.goOn();
  await lab.expectStates('review', 'pending');
  const asked: string[] = [];
  lab.page.on('request', request => asked.push(request.url()));
  await sidebar.docs.getByText('spikes.read_spikes').first().click();
  await expect(sidebar.docs).toContainText('<script>');
  // The text is drawn as Markdown; what it links to is fetched only for who clicks.
  const link = sidebar.docs.getByRole('link', { name: 'outside' });
  await expect(link).toHaveAttribute('target', '_blank');
  await expect(link).toHaveAttribute('rel', /noopener/);
  await expect(sidebar.docs.locator('img, iframe, script, [href^="javascript"]')).toHaveCount(0);
  expect(asked.filter(url => url.includes('outside.example'))).toEqual([]);
  await expect(notebook.cell('read_spikes')).toContainText('<img src=x');
  await lab.accept('done', 'review');
  await expect(notebook.cell('spikes.Spike()')).toBeVisible();
  await lab.accept('done', 'done');
  await sidebar.button('Synthesize').click();
  await expect(sidebar.status).toContainText('Solved');
  await sidebar.usedDocs.getByText('spikes.read_spikes').click();
  await expect(sidebar.usedDocs).toContainText('<script>');
  await sidebar.root.hover();
  await lab.page.waitForTimeout(500);

  expect(await lab.page.evaluate('window.hurt')).toBeUndefined();
  // Opened anew, its outputs are somebody's, and not trusted either.
  await lab.reload();
  await expect(notebook.cell('spikes.Spike()')).toBeVisible();
  expect(await lab.page.evaluate('window.hurt')).toBeUndefined();
});

test('errors from the model are not shown, and names of libraries are quoted as text', async ({
  lab,
  stage
}) => {
  const { sidebar } = lab;
  await stage.say({ scripts: [{ status: 400, message: `No ${spike('error')}` }] });
  await lab.openOwnNotebook();
  await sidebar.explore();
  // What the server wrote is not shown at all.
  await expect(sidebar.root.getByRole('alert').first()).toContainText('HTTP 400');
  await expect(sidebar.root).not.toContainText('img src=x');

  await sidebar.root.getByRole('button', { name: 'New exploration' }).click();
  await sidebar.explore({ libraries: [`<img src=x onerror="window.hurt='library'">`] });
  await expect(sidebar.root.getByRole('alert').filter({ hasText: 'img' })).not.toHaveCount(0);

  expect(await lab.page.evaluate('window.hurt')).toBeUndefined();
});
