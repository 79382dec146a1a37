import { expect, Locator, Page } from '@playwright/test';
import { CONTEXT, LIBRARY, TASK } from './lines';

/** What a user fills in before they explore. */
export interface IForm {
  task?: string;
  libraries?: string[];
  check?: string;
  /** What the first lines of the cells are that run first. */
  cells?: string[];
  isAuto?: boolean;
}

/** An entry of the menu that is open. */
export function menuItem(page: Page, action: string): Locator {
  const label = page.locator('.lm-Menu-itemLabel').getByText(action, { exact: true });
  return page.getByRole('menuitem').filter({ has: label });
}

/** The sidebar, as somebody knows it who hears it read out. */
export class Sidebar {
  constructor(readonly page: Page) {
    this.tab = page.getByRole('tab', { name: 'ExploraCoder' });
    this.root = page.getByRole('region', { name: 'ExploraCoder', exact: true });
    this.task = this.root.getByRole('textbox', { name: 'Task', exact: true });
    this.libraries = this.root.getByRole('combobox', { name: 'Add a library' });
    this.check = this.root.getByRole('textbox', { name: 'Check' });
    this.along = this.root.getByRole('group', { name: 'Comes along' });
    this.model = this.root.getByTitle('Model and sandbox of the next exploration');
    this.plan = this.root.getByRole('list', { name: 'Plan', exact: true });
    this.items = this.plan.getByRole('listitem');
    this.docs = this.root.getByRole('region', { name: 'Retrieved docs' });
    this.candidates = this.root.getByRole('tablist', { name: 'Candidates' });
    this.candidate = this.root.getByRole('tabpanel');
    this.solution = this.root.getByLabel('Code of the solution');
    this.usedDocs = this.root.getByRole('region', { name: 'Docs of what it uses' });
    this.status = this.root.getByRole('status', { name: 'Exploration status' });
  }

  readonly tab: Locator;
  readonly root: Locator;
  readonly task: Locator;
  readonly libraries: Locator;
  readonly check: Locator;
  /** What of the notebook comes along. */
  readonly along: Locator;
  /** The chip with the model and the sandbox. */
  readonly model: Locator;
  readonly plan: Locator;
  readonly items: Locator;
  readonly docs: Locator;
  readonly candidates: Locator;
  readonly candidate: Locator;
  /** The text of the solution. */
  readonly solution: Locator;
  /** The docs behind the solution. */
  readonly usedDocs: Locator;
  readonly status: Locator;

  button(name: string): Locator {
    return this.root.getByRole('button', { name, exact: true });
  }

  async open(): Promise<void> {
    if (!(await this.root.isVisible())) {
      await this.tab.click();
    }
    await expect(this.root).toBeVisible();
  }

  /** Open a part that is folded. */
  async unfold(title: string): Promise<void> {
    const words = this.page.locator('summary').getByText(title, { exact: true });
    const part = this.root.locator('details').filter({ has: words }).first();
    if ((await part.getAttribute('open')) === null) {
      await part.locator('summary').first().click();
    }
  }

  /** Wait until it is the user's turn: the view goes to where that is when it comes. */
  async expectTurn(): Promise<void> {
    await expect(this.root.locator('[data-working="false"]')).toBeVisible();
  }

  /** Wait until the plan shows the subtasks in these states, and for the turn if one is in review. */
  async expectStates(...states: string[]): Promise<void> {
    const shown = (): Promise<(string | null)[]> =>
      this.items.evaluateAll(items => items.map(item => item.getAttribute('data-status')));
    await expect.poll(shown).toEqual(states);
    if (states.includes('review')) {
      await this.expectTurn();
    }
  }

  /** Look at a subtask, by its number. */
  async select(number: number): Promise<void> {
    await this.items
      .nth(number - 1)
      .getByRole('button', { name: new RegExp(`^${number}\\.`) })
      .click();
  }

  /** Choose in the menu of the subtask that is looked at, or of another one. */
  async choose(action: string, number?: number): Promise<void> {
    if (number !== undefined) {
      await this.select(number);
    }
    // A menu has what could be done when it was opened.
    await expect(async () => {
      await this.page.keyboard.press('Escape');
      await this.button('More about this subtask').click();
      await expect(menuItem(this.page, action)).toBeVisible({ timeout: 10_000 });
    }).toPass({ timeout: 60_000 });
    await menuItem(this.page, action).click();
  }

  async addLibrary(name: string): Promise<void> {
    await this.libraries.fill(name);
    await this.libraries.press('Enter');
    await expect(this.root.getByRole('button', { name: `Remove ${name}` })).toBeVisible();
  }

  /** Fill the form in, and start. */
  async explore(form: IForm = {}): Promise<void> {
    await this.open();
    await this.task.fill(form.task ?? TASK);
    for (const library of form.libraries ?? [LIBRARY]) {
      await this.addLibrary(library);
    }
    await this.unfold('Context');
    for (const cell of form.cells ?? [CONTEXT]) {
      await this.root.getByRole('checkbox', { name: cell }).check();
    }
    if (form.check) {
      await this.unfold('Check');
      await this.check.fill(form.check);
    }
    const review = this.root.getByRole('checkbox', { name: 'Review each step' });
    await review.setChecked(!form.isAuto);
    await this.button('Explore').click();
  }
}
