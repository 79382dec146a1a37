import { Dialog, showDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { ModelChoices } from './modelchoice';
import { ModelChoice, ModelGone } from './protocol';
import { RequestError } from './request';

/**
 * Resume something with its own model or, if that is gone and the user agrees, with the model of
 * the form. Returns null if the user declines.
 */
export async function withModel<T>(
  trans: TranslationBundle,
  models: ModelChoices,
  resume: (model: ModelChoice | null) => Promise<T>
): Promise<T | null> {
  try {
    return await resume(null);
  } catch (error) {
    const body = error instanceof RequestError ? (error.body as Partial<ModelGone> | null) : null;
    if (!body?.gone || models.isMissing) {
      throw error;
    }
    const { name, url } = models.named;
    const { button } = await showDialog({
      title: trans.__('Its model is not there any more'),
      body: trans.__(
        '%1 Go on with %2, as the form of a new exploration says?',
        body.message,
        url ? trans.__('%1 at %2', name, url) : name
      ),
      buttons: [Dialog.cancelButton(), Dialog.okButton({ label: trans.__('Go on with it') })]
    });
    return button.accept ? resume(models.choice) : null;
  }
}
