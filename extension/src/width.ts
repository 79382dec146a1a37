import { IStateDB } from '@jupyterlab/statedb';
import { SplitPanel, Widget } from '@lumino/widgets';

const WIDTH_PX = 360;
/** At most this share of the window. */
const MOST = 0.4;
const KEY = 'exploracoder:widened';

/**
 * Gives a sidebar enough width when it is first opened. JupyterLab opens all sidebars at the same
 * width, and then keeps the one that the user sets.
 */
export async function widenOnce(sidebar: Widget, state: IStateDB): Promise<void> {
  if (await state.fetch(KEY)) {
    return;
  }
  await state.save(KEY, true);
  // Once it is laid out.
  requestAnimationFrame(() => requestAnimationFrame(() => widen(sidebar)));
}

function widen(sidebar: Widget): void {
  const [split, side] = splitOf(sidebar);
  if (!split || !sidebar.isVisible) {
    return;
  }
  const total = split.node.clientWidth;
  const widths = split.relativeSizes().map(size => size * total);
  const place = split.widgets.indexOf(side);
  const more = Math.min(WIDTH_PX, MOST * total) - widths[place];
  if (more > 0) {
    widths[place] += more;
    widths[widths.indexOf(Math.max(...widths))] -= more;
    split.setRelativeSizes(widths);
  }
}

/** The panel that splits sidebars and documents, and its child that holds the sidebar. */
function splitOf(sidebar: Widget): [SplitPanel | null, Widget] {
  let part = sidebar;
  while (part.parent && !(part.parent instanceof SplitPanel)) {
    part = part.parent;
  }
  return [part.parent as SplitPanel | null, part];
}
