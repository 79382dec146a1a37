import { LabIcon } from '@jupyterlab/ui-components';

function icon(name: string, drawing: string): LabIcon {
  return new LabIcon({
    name: `exploracoder:${name}`,
    svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 24 24"><g fill="none">${drawing}</g></svg>`
  });
}

// The classes let JupyterLab's themes colour the drawings. A theme overrides any `fill`, even
// "none", so lines inherit theirs from the enclosing group.
const LINE =
  'class="jp-icon3 jp-icon-selectable" stroke="#616161" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"';
const FULL = 'class="jp-icon3 jp-icon-selectable" fill="#616161"';

/** The extension's icon: a branching path, with the branch taken ending in a cell. */
export const explorationIcon = icon(
  'exploration',
  '<path class="jp-icon3 jp-icon-selectable" fill="#616161" d="M6 2a3 3 0 0 1 1 5.83v2.42A5 5 0 0 0 12 15h2v-1.5a1.5 1.5 0 0 1 1.500-1.500h5a1.500 1.500 0 0 1 1.500 1.500v5a1.500 1.500 0 0 1-1.500 1.500h-5A1.500 1.500 0 0 1 14 18.500V17h-2a7 7 0 0 1-5-2.100v1.270A3 3 0 1 1 5 16.170V7.830A3 3 0 0 1 6 2zm10 12v4h4v-4zM6 4a1 1 0 1 0 0 2 1 1 0 0 0 0-2zm0 14a1 1 0 1 0 0 2 1 1 0 0 0 0-2z"/>'
);

/** The drag handle of a subtask. */
export const dragIcon = icon(
  'drag',
  [5, 12, 19]
    .map(y => `<circle ${FULL} cx="9" cy="${y}" r="2"/><circle ${FULL} cx="15" cy="${y}" r="2"/>`)
    .join('')
);

/** A subtask that nobody has worked on yet. */
export const openIcon = icon('open', `<circle ${LINE} cx="12" cy="12" r="8"/>`);

/** A subtask that waits for the user. */
export const turnIcon = icon(
  'turn',
  `<circle ${LINE} cx="12" cy="12" r="9"/><path ${FULL} d="M10 7.500v9l6.500-4.500z"/>`
);

/** A subtask that is being worked on. */
export const workingIcon = icon(
  'working',
  `<path ${LINE} d="M12 4a8 8 0 1 1-8 8"/><circle ${FULL} cx="12" cy="12" r="2.500"/>`
);

/** What ran, or is accepted. */
export const doneIcon = icon(
  'done',
  `<circle ${LINE} cx="12" cy="12" r="9"/><path ${LINE} d="M7.500 12.500l3 3 6-6.500"/>`
);

/** What did not run. */
export const failedIcon = icon(
  'failed',
  `<circle ${LINE} cx="12" cy="12" r="9"/><path ${LINE} d="M8.500 8.500l7 7m0-7l-7 7"/>`
);
