import { expect, Locator, Page } from '@playwright/test';
import { LIBRARY, TASK } from './lines';

/** What a user fills in before they explore. */
export interface IForm {
  task?: string;
  libraries?: string[];
  check?: string;
  isAuto?: boolean;
}

/** The sidebar, as somebody knows it who hears it read out. */
export class Sidebar {
  constructor(readonly page: Page) {
    this.tab = page.getByRole('tab', { name: 'ExploraCoder' });
    this.root = page.locator('#exploracoder-sidebar');
    this.task = this.root.getByRole('textbox', { name: 'Task', exact: true });
    this.libraries = this.root.getByRole('combobox', { name: 'Libraries' });
    this.check = this.root.getByRole('textbox', { name: 'Check' });
    this.plan = this.root.getByRole('list', { name: 'Plan', exact: true });
    this.items = this.plan.getByRole('listitem');
    this.docs = this.root.getByRole('region', { name: 'Retrieved docs' });
    this.candidates = this.root.getByRole('tablist', { name: 'Candidates' });
    this.candidate = this.root.getByRole('tabpanel');
    this.status = this.root.getByRole('status', { name: 'Exploration status' });
  }

  readonly tab: Locator;
  readonly root: Locator;
  readonly task: Locator;
  readonly libraries: Locator;
  readonly check: Locator;
  readonly plan: Locator;
  readonly items: Locator;
  readonly docs: Locator;
  readonly candidates: Locator;
  readonly candidate: Locator;
  readonly status: Locator;

  button(name: string): Locator {
    return this.root.getByRole('button', { name, exact: true });
  }

  async open(): Promise<void> {
    if ((await this.tab.getAttribute('aria-selected')) !== 'true') {
      await this.tab.click();
    }
    await expect(this.root).toBeVisible();
  }

  async addLibrary(name: string): Promise<void> {
    await this.libraries.fill(name);
    await this.libraries.press('Enter');
    await expect(
      this.root.getByRole('button', { name: `Remove ${name}` })
    ).toBeVisible();
  }

  /** Fill the form in, and start. */
  async explore(form: IForm = {}): Promise<void> {
    await this.open();
    await this.task.fill(form.task ?? TASK);
    for (const library of form.libraries ?? [LIBRARY]) {
      await this.addLibrary(library);
    }
    if (form.check) {
      await this.check.fill(form.check);
    }
    if (form.isAuto) {
      await this.root.getByRole('radio', { name: 'Auto-run' }).check();
    }
    await this.button('Explore').click();
  }
}
