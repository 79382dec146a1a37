import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyJSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { ActionName } from '../actions';
import { ApiDoc, Command, DocPage } from '../protocol';
import { IExplorationModel } from '../tokens';

/** Where an API or a piece of code is; `file` is an absolute path. */
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
  /** Send a command to an exploration; a refusal is shown to the user. */
  send(model: IExplorationModel, command: Command): void;
  /** The parsed docs of an API. */
  docPage(doc: ApiDoc): Promise<DocPage>;
  /** Open a menu of the actions that are possible now. */
  openMenu(
    names: readonly ActionName[],
    args: ReadonlyJSONObject,
    button: HTMLElement,
    staying?: HTMLElement
  ): void;
  /** Returns a function that opens a file at a line; null if it is out of reach. */
  sourceOpener(source: ISourcePlace): (() => void) | null;
}
