import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyJSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { ActionName } from '../actions';
import { ApiDoc, Command, DocPage } from '../protocol';
import { IExplorationModel } from '../tokens';

/** Where an API or a piece of code stands; `file` is a path in full. */
export interface ISourcePlace {
  readonly file: string | null;
  readonly line: number | null;
}

/** What every part of the sidebar may use. */
export interface ITools {
  readonly trans: TranslationBundle;
  readonly languages: IEditorLanguageRegistry | null;
  readonly rendermime: IRenderMimeRegistry;
  /** Run a command of the application. */
  execute(command: string, args?: ReadonlyPartialJSONObject): void;
  /** Send a command to an exploration; why it was refused is shown to the user. */
  send(model: IExplorationModel, command: Command): void;
  /** The docs of an API, taken apart. */
  docPage(doc: ApiDoc): Promise<DocPage>;
  /** Open a menu of those actions that can be done now. */
  openMenu(
    names: readonly ActionName[],
    args: ReadonlyJSONObject,
    button: HTMLElement,
    staying?: HTMLElement
  ): void;
  /** Open a file of source at a line; null where the file is out of the server's reach. */
  sourceOpener(source: ISourcePlace): (() => void) | null;
}
