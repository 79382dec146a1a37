import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { ReadonlyJSONObject } from '@lumino/coreutils';
import { ActionName } from '../actions';

/**
 * Open a menu of those actions that can be done now. The focus comes back to its button, or to what
 * stays where the button may go away.
 */
export function openMenu(
  commands: CommandRegistry,
  names: readonly ActionName[],
  args: ReadonlyJSONObject,
  button: HTMLElement,
  staying: HTMLElement = button
): void {
  const menu = new MenuSvg({ commands });
  for (const name of names) {
    const command = `exploracoder:${name}`;
    if (commands.isEnabled(command, args)) {
      menu.addItem({ command, args });
    }
  }
  if (!menu.items.length) {
    menu.dispose();
    return;
  }
  menu.aboutToClose.connect(() => {
    staying.focus();
    // What was chosen runs after this.
    setTimeout(() => menu.dispose());
  });
  const { bottom, left } = button.getBoundingClientRect();
  menu.open(left, bottom);
  menu.activeIndex = 0;
}
