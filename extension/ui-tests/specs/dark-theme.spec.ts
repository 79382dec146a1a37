import { expect, test } from '../lab/test';

/** The lightness of what a colour's text gives, from 0 (black) to 1 (white). */
function lightness(colour: string): number {
  const [red, green, blue] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}

test('in a dark theme all that is ours is dark, and changes with the theme at once', async ({
  lab
}) => {
  const { sidebar } = lab;
  await lab.propose();
  const boxes = sidebar.root.locator('textarea, input, pre, section, li, [role=tabpanel]');
  const colours = () =>
    boxes.evaluateAll(elements =>
      elements
        .map(element => getComputedStyle(element).backgroundColor)
        .filter(colour => !/rgba\(.*, 0\)$/.test(colour))
    );
  const words = () => sidebar.items.first().evaluate(element => getComputedStyle(element).color);

  await lab.setTheme('JupyterLab Dark');
  expect(Math.max(...(await colours()).map(lightness), 0)).toBeLessThan(0.6);
  expect(lightness(await words())).toBeGreaterThan(0.6);

  await lab.setTheme('JupyterLab Light');
  expect(Math.min(...(await colours()).map(lightness), 1)).toBeGreaterThan(0.4);
  expect(lightness(await words())).toBeLessThan(0.4);
});
