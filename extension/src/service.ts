import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Explorations } from './explorations';
import { Requests } from './request';
import { IExplorations } from './tokens';

/** Follows the server's explorations, for the sidebar and for other extensions. */
const plugin: JupyterFrontEndPlugin<IExplorations> = {
  id: 'exploracoder:explorations',
  description: 'Follows the explorations of this server.',
  autoStart: true,
  provides: IExplorations,
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null): IExplorations => {
    const trans = (translator ?? nullTranslator).load('exploracoder');
    const requests = new Requests(app.serviceManager.serverSettings, trans);
    const explorations = new Explorations(requests);
    // Reconnect at once when the network is back.
    window.addEventListener('online', () => explorations.wake());
    return explorations;
  }
};

export default plugin;
