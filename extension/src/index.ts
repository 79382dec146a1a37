import { JupyterFrontEndPlugin } from '@jupyterlab/application';
import commands from './commands';
import filebrowser from './filebrowser';
import launcher from './launcher';
import notebook from './notebook';
import service from './service';
import sidebar from './sidebar';
import statusbar from './statusbar';
import untrusted from './untrusted';

const plugins = [
  service,
  sidebar,
  notebook,
  commands,
  launcher,
  filebrowser,
  statusbar,
  untrusted
] as JupyterFrontEndPlugin<unknown>[];

export default plugins;
export * from './tokens';
