import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { explorationIcon } from './icons';

/** The card in the launcher. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'exploracoder:launcher',
  description: 'Starts explorations from the launcher.',
  autoStart: true,
  optional: [ILauncher, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    launcher: ILauncher | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('exploracoder');
    const command = 'exploracoder:launch';
    app.commands.addCommand(command, {
      label: trans.__('ExploraCoder'),
      caption: trans.__('Explore a library that your language model does not know'),
      icon: explorationIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => app.commands.execute('exploracoder:new')
    });
    launcher?.add({ command, category: trans.__('Other'), rank: 10 });
  }
};

export default plugin;
