import type { Lab } from '../lab/lab';
import { expect, test } from '../lab/test';

const SCRATCH = { name: 'exploracoder', display_name: 'ExploraCoder' };
const HURT = `<img src=x onerror="window.hurt='HERE'"><script>window.hurt='HERE'</script>`;
const FORMS = {
  'text/html': HURT.replaceAll('HERE', 'html'),
  'text/markdown': HURT.replaceAll('HERE', 'markdown'),
  'text/latex': HURT.replaceAll('HERE', 'latex'),
  'image/svg+xml': `<svg xmlns="http://www.w3.org/2000/svg" onload="window.hurt='svg'"></svg>`,
  'application/javascript': `window.hurt = 'javascript'`,
  'application/vnd.jupyter.widget-view+json': {
    model_id: 'none',
    version_major: 2,
    version_minor: 0
  }
};
// Each form alone, and once all of them, of which the richest would be taken.
const SHOW = [
  'import json',
  'from IPython.display import display',
  `forms = json.loads(${JSON.stringify(JSON.stringify(FORMS))})`,
  'for form, value in forms.items():',
  `    display({form: value, 'text/plain': 'plain ' + form}, raw=True)`,
  `display({**forms, 'text/plain': 'plain'}, raw=True)`,
  `handle = display({'text/plain': 'first'}, raw=True, display_id='late')`,
  `display({'text/html': forms['text/html']}, raw=True, display_id='late', update=True)`,
  `print('all are shown')`
].join('\n');

// Where an output could send what the sandbox lets code read, but not tell anyone.
const OUTSIDE = 'https://outside.example/?secret';
const FETCHED = {
  'text/html': [
    `<img src="${OUTSIDE}"><video poster="${OUTSIDE}"></video><audio src="${OUTSIDE}"></audio>`,
    `<p style="background-image: url(${OUTSIDE})">html</p>`,
    `<p style="cursor: url('${OUTSIDE}'), auto">cursor</p>`
  ].join(''),
  'text/markdown': [
    `![picture](${OUTSIDE})`,
    '```mermaid\nflowchart TD\n  A@{ img: "' + OUTSIDE + '" }\n```'
  ].join('\n\n'),
  'text/latex': `$\\style{cursor: url(${OUTSIDE}), auto}{x}$`,
  'text/vnd.mermaid': `flowchart TD\n  A@{ img: "${OUTSIDE}" }`,
  'application/vnd.vegalite.v5+json': {
    data: { url: OUTSIDE },
    mark: 'bar',
    encoding: { x: { field: 'a' } }
  }
};
const SHOW_FETCHED = [
  'import json',
  'from IPython.display import display',
  `forms = json.loads(${JSON.stringify(JSON.stringify(FETCHED))})`,
  'for form, value in forms.items():',
  `    display({form: value, 'text/plain': 'plain ' + form}, raw=True)`,
  `print('all are shown')`
].join('\n');

async function hurt(lab: Lab): Promise<unknown> {
  // What runs does so once an image was not found.
  await lab.page.waitForTimeout(500);
  return lab.page.evaluate('window.hurt');
}

test('what a cell that was run by hand shows on the scratch kernel never runs', async ({
  lab,
  stage
}) => {
  stage.writeNotebookFor(SCRATCH, 'scratch.ipynb', SHOW);
  await lab.goto('scratch.ipynb');
  await expect(lab.page.getByText('ExploraCoder | Idle')).toBeVisible();
  await lab.own('scratch.ipynb').locator('.jp-InputPrompt').click();

  await lab.execute('notebook:run-cell');

  await expect(lab.own('scratch.ipynb')).toContainText('all are shown');
  await expect(lab.own('scratch.ipynb')).toContainText('plain application/javascript');
  expect(await hurt(lab)).toBeUndefined();

  // The command ends with its dialog.
  const trusting = lab.execute('notebook:trust');
  await lab.page.getByRole('button', { name: 'Confirm Trusting this notebook' }).click();
  await trusting;
  expect(await hurt(lab)).toBeUndefined();

  await lab.execute('docmanager:save');
  await lab.reload();
  await expect(lab.own('scratch.ipynb')).toContainText('all are shown');
  expect(await hurt(lab)).toBeUndefined();

  await lab.execute('notebook:create-console');
  const console = lab.page.locator('.jp-CodeConsole');
  await expect(console).toContainText('a kernel whose state branches');
  await lab.execute('console:inject', { path: stage.path('scratch.ipynb'), code: SHOW });
  await expect(console).toContainText('all are shown');
  expect(await hurt(lab)).toBeUndefined();
});

test('what a cell of an exploration shows when it is run by hand never runs', async ({ lab }) => {
  const { notebook } = lab;
  await lab.propose();

  await notebook.runByHand(notebook.cell('read_leaves'), `import tealeaf\n${SHOW}`);

  await expect(notebook.panel).toContainText('all are shown');
  expect(await hurt(lab)).toBeUndefined();
});

test('the browser fetches nothing for what a cell of an exploration shows', async ({ lab }) => {
  const { notebook } = lab;
  const asked: string[] = [];
  lab.page.on('request', request => asked.push(request.url()));
  await lab.propose();

  await notebook.runByHand(notebook.cell('read_leaves'), `import tealeaf\n${SHOW_FETCHED}`);

  await expect(notebook.panel).toContainText('all are shown');
  await expect(notebook.panel).toContainText('plain application/vnd.vegalite.v5+json');
  await expect(notebook.panel.locator('mjx-container')).toBeVisible();
  await lab.page.waitForTimeout(1_000);
  expect(asked.filter(url => url.includes('outside.example'))).toEqual([]);
  const lookups = lab.page.locator('meta[http-equiv="x-dns-prefetch-control"]');
  await expect(lookups).toHaveAttribute('content', 'off');
});

test('on a kernel of the user’s own the same is trusted, as JupyterLab does it', async ({
  lab
}) => {
  await lab.openOwnNotebook('tea.ipynb', SHOW);
  await lab.own().locator('.jp-InputPrompt').click();

  await lab.execute('notebook:run-cell');

  await expect(lab.own()).toContainText('all are shown');
  await expect.poll(() => hurt(lab)).toBeDefined();
});
