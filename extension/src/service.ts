import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Explorations } from './explorations';
import { Requests } from './request';
import { IExplorations } from './tokens';

/** Follows the server's explorations, for the sidebar and for other extensions. */
const plugin: JupyterFrontEndPlugin<IExplorations> = {
  id: 'exploracoder:explorations',
  description: 'Follows the explorations of this server.',
  autoStart: true,
  provides: IExplorations,
  activate: (app: JupyterFrontEnd): IExplorations => {
    const requests = new Requests(app.serviceManager.serverSettings);
    const explorations = new Explorations(requests);
    // A connection that was cut while nobody looked is made again at once.
    window.addEventListener('online', () => explorations.wake());
    return explorations;
  }
};

export default plugin;
