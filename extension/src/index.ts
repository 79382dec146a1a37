import { JupyterFrontEndPlugin } from '@jupyterlab/application';
import commands from './commands';
import filebrowser from './filebrowser';
import launcher from './launcher';
import notebook from './notebook';
import service from './service';
import sidebar from './sidebar';
import statusbar from './statusbar';

const plugins = [
  service,
  sidebar,
  notebook,
  commands,
  launcher,
  filebrowser,
  statusbar
] as JupyterFrontEndPlugin<unknown>[];

export default plugins;
export * from './tokens';
