import { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { service } from './service';
import { sidebar } from './sidebar';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  service,
  sidebar as JupyterFrontEndPlugin<unknown>
];

export default plugins;
export * from './tokens';
