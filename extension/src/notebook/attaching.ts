import { ISessionContext } from '@jupyterlab/apputils';
import { ServiceManager } from '@jupyterlab/services';

/**
 * Let a notebook use a kernel that runs already. Returns whether it does.
 *
 * A kernel that is gone is not asked for: JupyterLab would show the server's refusal in a dialog.
 */
export async function attachKernel(
  context: ISessionContext,
  services: Pick<ServiceManager.IManager, 'kernels' | 'sessions'>,
  id: string
): Promise<boolean> {
  await context.ready;
  // A session that has ended elsewhere is still the notebook's until this is asked.
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
