import { IStateDB } from '@jupyterlab/statedb';
import { SplitPanel, Widget } from '@lumino/widgets';

const WIDTH_PX = 360;
/** It takes no more of a narrow window. */
const MOST = 0.4;
const KEY = 'exploracoder:widened';

/**
 * Gives a sidebar the room that it needs when it is opened for the first time. JupyterLab opens all
 * of them at the same width, and from then on the user's own is kept.
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

/** What shares the window out between sidebars and documents, and its part that has the sidebar. */
function splitOf(sidebar: Widget): [SplitPanel | null, Widget] {
  let part = sidebar;
  while (part.parent && !(part.parent instanceof SplitPanel)) {
    part = part.parent;
  }
  return [part.parent as SplitPanel | null, part];
}
