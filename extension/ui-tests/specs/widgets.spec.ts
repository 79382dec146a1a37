import { expect, Locator, Page } from '@playwright/test';
import { Lab } from '../lab/lab';
import { CHECK, CONTEXT, GOALS, PART_OF_SOLUTION, TASK } from '../lab/lines';
import { test } from '../lab/test';

const KERNEL = { name: 'magics', display_name: 'Tea and magics' };
const CELLS = [
  '%load_ext exploracoder\n%exploracoder config candidates=1 rerank=none',
  `start = '${CONTEXT}'\ngoal = '${CHECK}'`,
  `%%exploracoder --library tealeaf --context start --check goal --review\n${TASK}`,
  '1 + 1'
];
const FRONT_ENDS = { JupyterLab: 'lab/tree', 'Notebook 7': 'notebooks' };

/** The widgets in a notebook, as somebody knows them who hears them read out. */
class Widgets {
  constructor(readonly page: Page) {
    this.book = page.locator('.jp-Notebook');
    this.status = this.book.getByRole('status', { name: 'Exploration status' });
    this.items = this.book.locator('.widget-html table').getByRole('row');
    this.cells = this.book.locator('.jp-CodeCell');
  }

  readonly book: Locator;
  readonly status: Locator;
  readonly items: Locator;
  readonly cells: Locator;

  button(name: string): Locator {
    return this.book.getByRole('button', { name, exact: true });
  }

  async expectStates(...states: string[]): Promise<void> {
    for (const [index, state] of states.entries()) {
      await expect(this.items.nth(index)).toContainText(state);
    }
  }
}

interface INotebookWindow {
  jupyterapp: {
    shell: {
      currentWidget: {
        sessionContext?: { session: { kernel: { status: string } | null } | null };
      } | null;
    };
  };
}

/** A cell that is run before there is a kernel is not run at all. */
async function kernelIsIdle(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const { shell } = (window as unknown as INotebookWindow).jupyterapp;
    return shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle';
  });
}

for (const [name, place] of Object.entries(FRONT_ENDS)) {
  test(`in ${name} widgets lead an exploration from a cell to the next`, async ({
    context,
    stage
  }) => {
    stage.writeNotebookFor(KERNEL, 'tea.ipynb', ...CELLS);
    const page = await context.newPage();
    const lab = new Lab(page, stage);
    await page.goto(`${stage.url}/${place}/${stage.path('tea.ipynb')}?reset&token=${stage.token}`);
    await lab.ready();
    await kernelIsIdle(page);
    const widgets = new Widgets(page);
    await widgets.cells.first().locator('.jp-InputPrompt').click();
    for (let cell = 0; cell < 3; cell++) {
      await lab.execute('notebook:run-cell-and-select-next');
    }

    // The page makes room for the widgets once they are known to be drawn.
    await expect(widgets.button('Explore')).toBeEnabled();
    await expect(widgets.status).toContainText('Waiting for you');
    await expect(widgets.items).toHaveCount(3);
    for (const [index, goal] of GOALS.entries()) {
      await expect(widgets.items.nth(index)).toContainText(goal);
    }
    await expect(widgets.button('Accept')).toBeDisabled();

    await widgets.button('Explore').click();
    const choice = widgets.book.getByLabel('Candidate', { exact: true });
    await expect(choice.locator('option')).toHaveText(['Candidate 1: ran, proposed']);
    await expect(widgets.book.locator('.jp-OutputArea')).toContainText(["Leaf(name='assam'"]);
    const docs = widgets.book.locator('details').filter({ hasText: 'tealeaf.read_leaves' });
    for (const fold of [docs.first(), docs.nth(1)]) {
      await fold.locator('summary').first().focus();
      await page.keyboard.press('Enter');
      await expect(fold).toHaveAttribute('open', '');
    }

    await widgets.button('Accept').focus();
    await page.keyboard.press('Enter');
    await widgets.expectStates('accepted', 'proposed', 'open');
    await widgets.button('Accept').click();
    await widgets.expectStates('accepted', 'accepted', 'proposed');
    await widgets.button('Skip').click();
    await widgets.expectStates('accepted', 'accepted', 'left out');
    await widgets.book.getByLabel('Subtask', { exact: true }).selectOption({ index: 2 });
    await widgets.button('Go back here').click();
    await widgets.expectStates('accepted', 'accepted', 'open');
    await widgets.button('Accept').click();
    await widgets.expectStates('accepted', 'accepted', 'accepted');
    await widgets.button('Synthesize').click();
    await expect(widgets.book).toContainText('the check passed');

    await widgets.button('Insert into my notebook').click();
    await expect(widgets.book.getByRole('alert')).toContainText('below the next cell that you run');
    await widgets.cells.nth(3).locator('.jp-InputPrompt').click();
    await lab.execute('notebook:run-cell-and-select-next');
    const solution = widgets.cells.nth(4);
    await expect(solution).toContainText(PART_OF_SOLUTION);
    await expect(solution.locator('.jp-OutputArea-output')).toHaveCount(0);
  });
}
