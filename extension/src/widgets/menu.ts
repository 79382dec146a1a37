import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { ReadonlyJSONObject } from '@lumino/coreutils';
import { ActionName } from '../actions';

/**
 * Open a menu of the actions that are possible now. The focus then returns to the button, or to
 * `staying` if the button may go away.
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
    // The command runs after this.
    setTimeout(() => menu.dispose());
  });
  const { bottom, left } = button.getBoundingClientRect();
  menu.open(left, bottom);
  menu.activeIndex = 0;
}
