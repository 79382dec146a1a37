import { ISessionContext } from '@jupyterlab/apputils';
import { ServiceManager } from '@jupyterlab/services';

/**
 * Attach a notebook to a running kernel. Returns whether it is attached.
 *
 * Never requests a kernel that is gone: JupyterLab would show the error in a dialog.
 */
export async function attachKernel(
  context: ISessionContext,
  services: Pick<ServiceManager.IManager, 'kernels' | 'sessions'>,
  id: string
): Promise<boolean> {
  await context.ready;
  // Until this refresh, the notebook keeps a session that has ended elsewhere.
  await Promise.all([services.sessions.refreshRunning(), services.kernels.refreshRunning()]);
  if (context.isDisposed) {
    return false;
  }
  if (context.session?.kernel?.id !== id) {
    const isRunning = Array.from(services.kernels.running()).some(kernel => kernel.id === id);
    if (!isRunning) {
      return false;
    }
    await context.changeKernel({ id });
  }
  return true;
}
