import { expect, Page } from '@playwright/test';
import { CONTEXT } from './lines';
import { ExplorationNotebook } from './explorationNotebook';
import { Sidebar } from './sidebar';
import type { Stage } from './stage';

export const THEMES = [
  'JupyterLab Light',
  'JupyterLab Dark',
  'JupyterLab Dark High Contrast'
] as const;
export type Theme = (typeof THEMES)[number];

interface IMainWidget {
  title: { label: string };
  context?: { ready: Promise<void> };
  close(): void;
}

interface ILabWindow {
  jupyterapp: {
    restored: Promise<void>;
    commands: {
      execute(id: string, args?: object): Promise<unknown>;
    };
    serviceManager: { sessions: { shutdownAll(): Promise<void> } };
    shell: {
      widgets(area: string): Iterable<IMainWidget>;
    };
  };
}

/** A tab with JupyterLab in it. */
export class Lab {
  constructor(
    readonly page: Page,
    readonly stage: Stage
  ) {
    this.sidebar = new Sidebar(page);
    this.notebook = new ExplorationNotebook(page);
    // Leaving is allowed, but noted: nobody should be asked whether to.
    page.on('dialog', dialog => {
      this.prompts.push(`${dialog.type()}: ${dialog.message()}`);
      void dialog.accept();
    });
    page.on('pageerror', error => this.errors.push(error.stack ?? error.message));
    page.on('console', message => {
      if (message.type() === 'error') {
        this.complaints.push(message.text());
      }
    });
  }

  readonly sidebar: Sidebar;
  readonly notebook: ExplorationNotebook;
  /** The browser's own prompts that came up, such as that of unsaved work. */
  readonly prompts: string[] = [];
  /** Errors in the browser's console: some are JupyterLab's, so they only help to see why. */
  readonly complaints: string[] = [];
  /** Exceptions that nobody caught in the page. */
  readonly errors: string[] = [];

  /** Go to JupyterLab with a fresh layout and a file open. */
  async goto(file = '', workspace = 'default'): Promise<void> {
    const place = workspace === 'default' ? '' : `/workspaces/${workspace}`;
    const tree = file ? `/tree/${encodeURI(this.stage.path(file))}` : '';
    const query = `?reset&token=${this.stage.token}`;
    await this.page.goto(`${this.stage.url}/lab${place}${tree}${query}`);
    await this.ready();
  }

  /** Load the page again, as it is. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  async ready(): Promise<void> {
    // JupyterLab may load the page once more, to be rid of the address's query.
    await expect(async () => {
      await this.page.waitForFunction(
        () => 'jupyterapp' in window && document.readyState === 'complete'
      );
      await this.page.evaluate(() => (window as unknown as ILabWindow).jupyterapp.restored);
    }).toPass({ timeout: 60_000 });
    await expect(this.page.locator('#jupyterlab-splash')).toHaveCount(0);
  }

  /** Open the user's notebook, with the text to be read in its first cell. */
  async openOwnNotebook(name = 'tea.ipynb', ...cells: string[]): Promise<void> {
    this.stage.writeNotebook(name, ...(cells.length ? cells : [CONTEXT]));
    await this.goto(name);
    await expect(this.own(name)).toBeVisible();
    const idle = this.page.getByText('Tea | Idle');
    // Jupyter chooses a kernel's ports a while before the kernel takes them: now and then another
    // process of this busy machine was there first, and the kernel never answers.
    await idle.waitFor({ timeout: 30_000 }).catch(async () => {
      await this.page.evaluate(() =>
        (window as unknown as ILabWindow).jupyterapp.serviceManager.sessions.shutdownAll()
      );
      await this.execute('docmanager:save');
      await this.goto(name);
      await idle.waitFor();
    });
    // JupyterLab notes the kernel's language in it, so that it would be unsaved work from the start.
    await this.execute('docmanager:save');
  }

  /** The panel of a notebook of the user's. */
  own(name = 'tea.ipynb'): ReturnType<Page['locator']> {
    return this.page.getByRole('tabpanel', { name, exact: true });
  }

  /** Drag the sidebar's edge, for pictures. */
  async widenSidebar(width: number): Promise<void> {
    const box = await this.sidebar.root.boundingBox();
    if (!box) {
      throw new Error('The sidebar is not shown.');
    }
    const edge = box.x + box.width + 1;
    await this.page.mouse.move(edge, 400);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + width, 400, { steps: 4 });
    await this.page.mouse.up();
  }

  /** Close the panel of a notebook, by its file's name. */
  async closePanel(name: string): Promise<void> {
    const count = (shallClose: boolean): Promise<number> =>
      this.page.evaluate(
        async given => {
          const { shell } = (window as unknown as ILabWindow).jupyterapp;
          const all = [...shell.widgets('main')];
          const panels = all.filter(widget => widget.title.label === given.name);
          if (given.shallClose) {
            // JupyterLab asks whether to save what it has not read yet.
            await Promise.all(panels.map(panel => panel.context?.ready));
            panels.forEach(panel => panel.close());
          }
          return panels.length;
        },
        { name, shallClose }
      );
    expect(await count(true)).toBeGreaterThan(0);
    await expect.poll(() => count(false)).toBe(0);
  }

  async execute(command: string, args: object = {}): Promise<void> {
    await this.page.evaluate(
      async given => {
        const { commands } = (window as unknown as ILabWindow).jupyterapp;
        // What comes back may be a widget, which cannot leave the page.
        await commands.execute(given.command, given.args as object);
      },
      { command, args }
    );
  }

  async setTheme(theme: Theme): Promise<void> {
    await this.execute('apputils:change-theme', { theme });
    await expect(this.page.locator('body')).toHaveAttribute('data-jp-theme-name', theme);
    await expect(this.page.locator('#jupyterlab-splash')).toHaveCount(0);
  }

  /** Choose a command of ours in the palette, by its label, as soon as it can be chosen. */
  async choose(label: string): Promise<void> {
    const palette = this.page.locator('.jp-ModalCommandPalette');
    // JupyterLab closes the palette when any command runs, whoever ran it; and until the page has heard
    // what the server has done, another command is the active one.
    await expect(async () => {
      if (!(await palette.isVisible())) {
        await this.page.keyboard.press('ControlOrMeta+Shift+C');
      }
      await palette.locator('input').fill(`ExploraCoder ${label}`, { timeout: 10_000 });
      const active = palette.locator('.lm-CommandPalette-item.lm-mod-active');
      await expect(active).toContainText(label, { timeout: 10_000 });
    }).toPass({ timeout: 60_000 });
    await this.page.keyboard.press('Enter');
  }

  /** Explore the usual task from the user's notebook, up to the plan. */
  async plan(): Promise<void> {
    await this.openOwnNotebook();
    await this.sidebar.explore();
    await expect(this.sidebar.items).toHaveCount(3);
  }

  /** Explore the usual task up to the first proposal. */
  async propose(): Promise<void> {
    await this.plan();
    await this.goOn();
    await this.expectStates('review', 'pending', 'pending');
    // The page hears of it later, and offers until then what it knows.
    await this.sidebar.expectStates('review', 'pending', 'pending');
  }

  async goOn(): Promise<void> {
    await this.sidebar.button('Explore').click();
  }

  /** Accept what is proposed, and wait until the next is. */
  async accept(...states: string[]): Promise<void> {
    await this.sidebar.choose('Accept');
    await this.expectStates(...states);
    // The page hears of it later than the server knows it, and offers what it knows.
    await this.sidebar.expectStates(...states);
  }

  /**
   * JupyterLab says by itself when a server or kernel is gone: close that, and see that nothing of it
   * is about a file that changed on disk.
   */
  async dismissForeignDialogs(): Promise<void> {
    const dialog = this.page.getByRole('dialog');
    while ((await dialog.count()) > 0) {
      await expect(dialog.first()).not.toContainText(/on disk|overwrite|unsaved/i);
      await this.page.keyboard.press('Escape');
      await this.page.waitForTimeout(200);
    }
  }

  /** JupyterLab tells of a kernel that was restarted, at a time of its own: away with it. */
  async dismissWhatJupyterLabSaysOfKernels(): Promise<void> {
    const dialog = this.page.getByRole('dialog', { name: /Kernel Restarting/ });
    await this.page.addLocatorHandler(dialog, () => this.page.keyboard.press('Escape'));
  }

  /** Wait until the steps of the only exploration are in these states, in the server. */
  async expectStates(...states: string[]): Promise<void> {
    await expect.poll(() => this.stage.states(), { timeout: 90_000 }).toEqual(states);
  }
}
