import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { ApiDoc, Command } from '../protocol';
import { IExplorationModel } from '../tokens';

/** What every part of the sidebar may use. */
export interface ITools {
  readonly trans: TranslationBundle;
  readonly languages: IEditorLanguageRegistry | null;
  readonly rendermime: IRenderMimeRegistry;
  /** Run a command of the application. */
  execute(command: string, args?: ReadonlyPartialJSONObject): void;
  /** Send a command to an exploration; why it was refused is shown to the user. */
  send(model: IExplorationModel, command: Command): void;
  /** Open an API's source; null where the file is out of the server's reach. */
  sourceOpener(doc: ApiDoc): (() => void) | null;
}
