import { expect, Locator, Page } from '@playwright/test';

/** The notebook of an exploration, open beside the user's own. */
export class ExplorationNotebook {
  constructor(readonly page: Page) {
    this.panel = page.getByRole('tabpanel', { name: /exploration(-\d+)?\.ipynb/ });
    const strip = page.getByRole('group', { name: 'Solution', exact: true });
    this.solution = this.panel.locator('.jp-CodeCell').filter({ has: strip });
  }

  readonly panel: Locator;
  /** The cell of the solution. */
  readonly solution: Locator;

  /** The code cells that show a text. */
  cell(text: string | RegExp): Locator {
    return this.panel.locator('.jp-CodeCell').filter({ hasText: text });
  }

  /** The text of each code cell that is on screen. */
  async sources(): Promise<string[]> {
    const editors = await this.panel.locator('.jp-CodeCell .cm-content').all();
    const lines = editors.map(editor => editor.locator('.cm-line').allTextContents());
    return (await Promise.all(lines)).map(one => one.join('\n'));
  }

  button(name: string, cell?: Locator): Locator {
    return (cell ?? this.panel).getByRole('button', { name, exact: true });
  }

  /** Ask for something else in a subtask's cell, with words about what is wrong. */
  async tryAgain(action: string, cell: Locator, hint = ''): Promise<void> {
    await this.button('Try again', cell).click();
    const ways = cell.getByRole('group', { name: 'Try again', exact: true });
    await ways.getByRole('textbox', { name: 'Hint' }).fill(hint);
    await ways.getByRole('button', { name: action, exact: true }).click();
  }

  /** Replace a code cell's text and run it as people do. */
  async runByHand(cell: Locator, code: string): Promise<void> {
    const editor = cell.getByRole('textbox');
    await editor.click();
    await this.page.keyboard.press('ControlOrMeta+A');
    await this.page.keyboard.insertText(code);
    await this.page.keyboard.press('Shift+Enter');
  }

  async expectOutput(text: string | RegExp): Promise<void> {
    await expect(
      this.panel.locator('.jp-OutputArea-output').filter({ hasText: text })
    ).not.toHaveCount(0);
  }
}
