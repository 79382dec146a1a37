import { JupyterFrontEnd } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { Draft } from '../draft';
import plugin from '../sidebar';
import { IExplorationModel, IExplorations } from '../tokens';
import { ISidebarOptions, Sidebar } from '../widgets/sidebar';
import { until } from './waiting';

describe('the sidebar', () => {
  it.each([
    ['says why a start failed once its form was left', true, ['No kernel.']],
    ['leaves it to the form to say why a start failed', false, []]
  ])('%s', async (_, isLeft, complaints) => {
    const answer = new PromiseDelegate<never>();
    const service = {
      current: null as IExplorationModel | null,
      draft: new Draft(),
      models: { choice: { name: '', base_url: '' } },
      open: new Map(),
      start: () => answer.promise
    };
    Object.assign(service, { changed: new Signal(service) });
    const { complain, options } = await sidebarOf(service as unknown as IExplorations);

    const started = options.form().onExplore();
    service.current = isLeft ? ({} as IExplorationModel) : null;
    answer.reject(new Error('No kernel.'));

    await expect(started).rejects.toThrow('No kernel.');
    expect(complain.mock.calls.flat()).toEqual(complaints);
  });
});

/** What is put into JupyterLab's shell, and what it was made with. */
async function sidebarOf(service: IExplorations) {
  const add = jest.fn<void, [Sidebar]>();
  const app = { serviceManager: { contents: {} }, shell: { add, widgets: () => [] } };
  void plugin.activate(
    app as unknown as JupyterFrontEnd,
    service,
    {} as IRenderMimeRegistry,
    ...new Array<null>(8).fill(null)
  );
  await until(() => add.mock.calls.length > 0);
  const [sidebar] = add.mock.calls[0];
  const complain = jest.spyOn(sidebar, 'complain').mockReturnValue();
  return { complain, options: Reflect.get(sidebar, '_options') as ISidebarOptions };
}
