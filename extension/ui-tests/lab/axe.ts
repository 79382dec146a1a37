import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** What is serious or worse in what is ours; the rest of the page is JupyterLab's. */
export async function findings(page: Page): Promise<string[]> {
  const ours = [
    '#exploracoder-sidebar',
    '[class*="jp-exploracoder"]',
    '[class*="jp-Exploracoder"]'
  ];
  const builder = new AxeBuilder({ page });
  for (const selector of ours) {
    if ((await page.locator(selector).count()) > 0) {
      builder.include(selector);
    }
  }
  // Outputs and editors are shown by JupyterLab's own widgets.
  const { violations } = await builder.exclude('.cm-editor').analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(node => `${node.target} ${node.failureSummary}`).join(' | ')}`
    );
}
