import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { refreshIcon, runIcon } from '@jupyterlab/ui-components';

const SELECTOR = '.jp-DirListing-item[data-file-type="notebook"]';
// Below "Open" and "Open with".
const RANK = 3;

/** Context menu items for notebooks in the file browser. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'exploracoder:filebrowser',
  description: 'Resumes and replays explorations from the file browser.',
  autoStart: true,
  optional: [IFileBrowserFactory, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    browsers: IFileBrowserFactory | null,
    translator: ITranslator | null
  ): void => {
    if (!browsers) {
      return;
    }
    const trans = (translator ?? nullTranslator).load('exploracoder');
    const entries = [
      { name: 'resume', label: trans.__('Resume exploration'), icon: runIcon },
      { name: 'replay', label: trans.__('Replay exploration'), icon: refreshIcon }
    ];
    for (const { name, label, icon } of entries) {
      const command = `exploracoder:${name}-file`;
      app.commands.addCommand(command, {
        label,
        icon,
        describedBy: { args: { type: 'object', properties: {} } },
        isVisible: () => selectedPath(browsers) !== null,
        execute: () =>
          app.commands.execute(`exploracoder:${name}`, { path: selectedPath(browsers) })
      });
      app.contextMenu.addItem({ command, selector: SELECTOR, rank: RANK });
    }
  }
};

export default plugin;

/** The only notebook that is selected. */
function selectedPath(browsers: IFileBrowserFactory): string | null {
  const items = Array.from(browsers.tracker.currentWidget?.selectedItems() ?? []);
  return items.length === 1 && items[0].type === 'notebook' ? items[0].path : null;
}
