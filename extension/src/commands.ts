import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Cell } from '@jupyterlab/cells';
import {
  Dialog,
  ICommandPalette,
  InputDialog,
  Notification,
  showDialog
} from '@jupyterlab/apputils';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Ability, ACTIONS, ActionName, IAction } from './actions';
import { withAgreement } from './agreement';
import { beginFrom } from './prefill';
import { withModel } from './modelgone';
import { insertSolution, solutionCode } from './notebook/insert';
import { stepOf } from './notebook/candidatepreview';
import { IExplorationNotebooks } from './notebook/tokens';
import { Replayed } from './protocol';
import { showReplayed } from './replayed';
import { targetOf } from './target';
import { IExplorationModel, IExplorations, LookupKind } from './tokens';
import { Sidebar } from './widgets/sidebar';

/** Every action as a command, for the palette, shortcuts and buttons. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'exploracoder:commands',
  description: 'The commands of ExploraCoder.',
  autoStart: true,
  requires: [IExplorations],
  optional: [IExplorationNotebooks, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    explorations: IExplorations,
    notebooks: IExplorationNotebooks | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('exploracoder');
    const actions = new Actions(app, explorations, notebooks, trans);
    for (const [name, action] of Object.entries(ACTIONS(trans))) {
      actions.register(name as ActionName, action);
      palette?.addItem({ command: `exploracoder:${name}`, category: trans.__('ExploraCoder') });
    }
    explorations.changed.connect(() => app.commands.notifyCommandChanged());
  }
};

export default plugin;

const AFTER_PALETTE_MS = 50;
const UNDO_MS = 10_000;

const LOOKUP_KINDS: LookupKind[] = ['class', 'signature', 'source', 'code'];

type Args = ReadonlyPartialJSONObject;
type Target = NonNullable<ReturnType<typeof targetOf>>;

/** What the commands do. */
class Actions {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _explorations: IExplorations,
    private readonly _notebooks: IExplorationNotebooks | null,
    private readonly _trans: TranslationBundle
  ) {}

  register(name: ActionName, action: IAction): void {
    const { isEnabled, isToggled, run } = this._own[name] ?? this._told(action);
    const { caption, icon, label } = action;
    const options: CommandRegistry.ICommandOptions = {
      label,
      caption,
      icon,
      isEnabled: args => isEnabled?.(args) ?? true,
      isVisible: args => name !== 'show-candidate' || !!args.candidate,
      isToggleable: isToggled !== undefined,
      isToggled: args => isToggled?.(args) ?? false,
      execute: args => (args.isQuiet ? run(args) : this._tell(run(args))),
      describedBy: { args: ARGS_SCHEMA }
    };
    this._app.commands.addCommand(`exploracoder:${name}`, options);
  }

  /** Show an error as a notification. Callers that show it themselves pass `isQuiet`. */
  private async _tell(work: Promise<unknown> | void): Promise<void> {
    try {
      await work;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      Notification.error(message, { autoClose: 8_000 });
    }
  }

  /** The commands that need more than the engine. */
  private get _own(): { [name: string]: ICommandAction | undefined } {
    return {
      open: { run: args => this._open(args) },
      new: { run: () => this._new() },
      explore: { run: args => this._explore(args) },
      'explore-cell': { run: args => this._exploreCell(args) },
      'look-up': { run: args => this._lookUp(args) },
      rename: this._about('rename_subtask', target => this._rename(target)),
      delete: this._about('delete_subtask', target => this._delete(target)),
      insert: {
        isEnabled: args => this._target('insert', args) !== null,
        run: args => this._insert(args)
      },
      resume: { isEnabled: args => this._path(args) !== null, run: args => this._resume(args) },
      replay: { isEnabled: args => this._path(args) !== null, run: args => this._replay(args) },
      'toggle-review': {
        isEnabled: args => this._isOpen(args),
        isToggled: args => this._model(args)?.progress.mode === 'review',
        run: args => this._toggleReview(args)
      },
      'open-notebook': {
        isEnabled: args => this._model(args) !== null,
        run: args => this._openNotebook(args)
      },
      'next-subtask': this._move(1),
      'previous-subtask': this._move(-1),
      // Needs a `candidate` argument; the palette has none.
      'show-candidate': {
        isEnabled: args => typeof args.candidate === 'string' && this._isOpen(args),
        run: args => this._showCandidate(args)
      },
      'next-candidate': this._turn(1),
      'previous-candidate': this._turn(-1),
      close: { isEnabled: args => this._isOpen(args), run: args => this._close(args) }
    };
  }

  /** An engine command, sent for the targeted exploration and subtask. */
  private _told({ ability, command }: IAction): ICommandAction {
    if (!ability || !command) {
      throw new Error('An action needs a command of the engine’s, or to be done here.');
    }
    return this._about(ability, ({ model, ...target }) => model.do(command(target)));
  }

  private _about(ability: Ability, run: (target: Target) => Promise<void>): ICommandAction {
    return {
      isEnabled: args => this._target(ability, args) !== null,
      run: async args => {
        const target = this._target(ability, args);
        if (!target) {
          throw new Error(this._trans.__('That is not possible now.'));
        }
        await run(target);
      }
    };
  }

  private async _rename({ model, subtask }: Target): Promise<void> {
    const step = stepOf(model.exploration, subtask);
    const { value } = await InputDialog.getText({
      title: this._trans.__('Change the goal'),
      label: this._trans.__('Its candidates are dropped: they were tried for another goal.'),
      text: step?.subtask.goal
    });
    const goal = value?.trim();
    if (goal && goal !== step?.subtask.goal) {
      await model.do({ kind: 'rename_subtask', subtask, goal });
    }
  }

  private async _delete({ model, subtask }: Target): Promise<void> {
    await model.do({ kind: 'delete_subtask', subtask });
    const undo = () => void this._tell(model.do({ kind: 'restore_subtask', subtask }));
    Notification.emit(this._trans.__('The subtask was deleted.'), 'default', {
      autoClose: UNDO_MS,
      actions: [{ label: this._trans.__('Undo'), callback: undo }]
    });
  }

  private _move(by: 1 | -1): ICommandAction {
    return {
      isEnabled: () => !!this._notebooks?.active,
      run: () => void this._notebooks?.move(by)
    };
  }

  private _turn(by: 1 | -1): ICommandAction {
    return {
      isEnabled: () => !!this._notebooks?.activeSubtask,
      run: () => void this._notebooks?.turn(by)
    };
  }

  private _target(ability: Ability, args: Args): Target | null {
    if (!args.isHere) {
      return targetOf(ability, this._model(args), args, this._notebooks);
    }
    // A key pressed in a cell applies to that cell only.
    const subtask = this._notebooks?.activeSubtask ?? null;
    const model = this._notebooks?.activeModel ?? null;
    return subtask ? targetOf(ability, model, { ...args, subtask }, this._notebooks) : null;
  }

  private _model(args: Args): IExplorationModel | null {
    const { current, open } = this._explorations;
    if (typeof args.id === 'string') {
      // The one in view stays there when its session ends.
      return open.get(args.id) ?? (current?.id === args.id ? current : null);
    }
    return this._notebooks?.activeModel ?? current;
  }

  private _isOpen(args: Args): boolean {
    return this._model(args)?.isOpen ?? false;
  }

  /** The notebook's path: as given, of the active notebook, or of the exploration. */
  private _path(args: Args): string | null {
    if (typeof args.path === 'string') {
      return args.path;
    }
    return this._notebooks?.active?.context.path ?? this._model(args)?.path ?? null;
  }

  private async _open(args: Args): Promise<void> {
    if (typeof args.id === 'string') {
      this._explorations.show(args.id);
    }
    await this._activate();
  }

  private async _new(): Promise<void> {
    this._explorations.show(null);
    await this._activate();
  }

  private async _lookUp(args: Args): Promise<void> {
    const { kind, text } = args;
    this._explorations.lookups.want({
      ...(isLookupKind(kind) ? { kind } : {}),
      ...(typeof text === 'string' ? { text } : {})
    });
    await this._activate();
  }

  /** Show the sidebar once the palette that ran the command has given the focus back. */
  private async _activate(): Promise<void> {
    await new Promise(resolve => setTimeout(resolve));
    this._showSidebar();
  }

  /** Show it twice: the palette takes the focus again after its command. */
  private _showSidebar(): void {
    this._app.shell.activateById(Sidebar.ID);
    window.setTimeout(() => this._app.shell.activateById(Sidebar.ID), AFTER_PALETTE_MS);
  }

  /** Continue the exploration; if there is none or it is idle, show the form for a new one. */
  private async _explore(args: Args): Promise<void> {
    const { current, open } = this._explorations;
    const model = typeof args.id === 'string' ? open.get(args.id) : current;
    if (model?.can('go_on')) {
      await model.do({ kind: 'go_on' });
    } else if (!model || model.progress.activity === 'idle') {
      await this._new();
    } else {
      await this._activate();
    }
  }

  /** A cell of the user's notebook; the active one if none is named. */
  private _cell(args: Args): Cell | null {
    const notebooks = this._notebooks;
    const content = notebooks?.active ? null : notebooks?.own?.content;
    const named = content?.widgets.find(cell => cell.model.id === args.cell);
    return named ?? content?.activeCell ?? null;
  }

  private async _exploreCell(args: Args): Promise<void> {
    const cell = this._cell(args);
    const panel = this._notebooks?.own;
    if (!cell || !panel) {
      throw new Error(this._trans.__('Choose a cell of your own notebook first.'));
    }
    await beginFrom(this._explorations, this._app.serviceManager.contents, panel, cell);
    await this._activate();
  }

  private async _resume(args: Args): Promise<void> {
    const path = this._path(args);
    if (path === null) {
      throw new Error(this._trans.__('Choose an exploration’s notebook first.'));
    }
    const { models } = this._explorations;
    const resume = (agreed: string) =>
      withModel(this._trans, models, model => this._explorations.resume(path, agreed, model));
    const model = await withAgreement(this._trans, path, resume);
    if (model) {
      this._showSidebar();
      await this._notebooks?.open(model);
    }
  }

  private async _replay(args: Args): Promise<void> {
    const path = this._path(args);
    if (path === null) {
      throw new Error(this._trans.__('Choose an exploration’s notebook first.'));
    }
    const replayed = await withAgreement(this._trans, path, agreed => this._replayed(path, agreed));
    if (replayed) {
      await showReplayed(this._trans, replayed);
    }
  }

  private async _replayed(path: string, agreed: string): Promise<Replayed> {
    const said = this._trans.__('Rerunning the accepted cells…');
    const id = Notification.emit(said, 'in-progress', { autoClose: false });
    try {
      return await this._explorations.replay(path, agreed);
    } finally {
      Notification.dismiss(id);
    }
  }

  private async _toggleReview(args: Args): Promise<void> {
    const model = this._model(args);
    const mode = model?.progress.mode === 'review' ? 'auto' : 'review';
    await model?.do({ kind: 'set_mode', mode });
  }

  private async _openNotebook(args: Args): Promise<void> {
    const model = this._model(args);
    const subtask = typeof args.subtask === 'string' ? args.subtask : null;
    if (model) {
      await this._notebooks?.open(model, subtask);
    }
  }

  private _showCandidate(args: Args): void {
    const { candidate, subtask } = args;
    const model = this._model(args);
    if (model && typeof subtask === 'string' && typeof candidate === 'string') {
      this._notebooks?.show(model, subtask, candidate);
    }
  }

  private async _insert(args: Args): Promise<void> {
    const model = this._model(args);
    const code = model && solutionCode(model.exploration);
    const panel = model && this._notebooks?.ownOf(model);
    if (!code) {
      throw new Error(this._trans.__('There is no solution that ran yet.'));
    }
    if (!panel) {
      throw new Error(
        this._trans.__('Open the notebook that the solution should go into, then try again.')
      );
    }
    this._app.shell.activateById(panel.id);
    if (!(await this._isMeant(panel.context.path, model))) {
      return;
    }
    await insertSolution(panel, model, code, this._trans);
  }

  /** The user has to agree if it is not the one that the exploration was started from. */
  private async _isMeant(path: string, { sourcePath }: IExplorationModel): Promise<boolean> {
    if (sourcePath ? path === sourcePath : !this._notebooks?.hasOthers) {
      return true;
    }
    const { button } = await showDialog({
      title: this._trans.__('Insert into this notebook?'),
      body: sourcePath
        ? this._trans.__(
            'The exploration was started from %1, which is not open under that name. The solution would go into %2.',
            sourcePath,
            path
          )
        : this._trans.__(
            'It is not known which notebook the exploration was started from. The solution would go into %1.',
            path
          ),
      buttons: [Dialog.cancelButton(), Dialog.okButton({ label: this._trans.__('Insert') })]
    });
    return button.accept;
  }

  private async _close(args: Args): Promise<void> {
    const model = this._model(args);
    if (!model) {
      return;
    }
    const { button } = await showDialog({
      title: this._trans.__('Close this exploration?'),
      body: this._trans.__(
        'Its kernel will be shut down. Its notebook stays, and you can resume it later.'
      ),
      buttons: [Dialog.cancelButton(), Dialog.okButton({ label: this._trans.__('Close') })]
    });
    if (button.accept) {
      await this._explorations.close(model.id);
    }
  }
}

function isLookupKind(value: unknown): value is LookupKind {
  return LOOKUP_KINDS.includes(value as LookupKind);
}

interface ICommandAction {
  isEnabled?: (args: Args) => boolean;
  isToggled?: (args: Args) => boolean;
  run: (args: Args) => Promise<void> | void;
}

const ARGS_SCHEMA = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The exploration; without it, the current one' },
    subtask: { type: 'string', description: 'The subtask; without it, the one in review' },
    candidate: { type: 'string', description: 'The candidate; without it, the one shown' },
    hint: { type: 'string', description: 'What is wrong, for those that are asked for' },
    cell: { type: 'string', description: 'The id of a cell; without it, the active one' },
    path: { type: 'string', description: 'The path of an exploration’s notebook' },
    text: { type: 'string', description: 'What to look up; without it, what is typed there' },
    kind: { type: 'string', enum: LOOKUP_KINDS, description: 'What of it to look up' },
    isHere: {
      type: 'boolean',
      description: 'The active cell of an exploration’s notebook is meant'
    },
    isQuiet: { type: 'boolean', description: 'Reject when refused, and show no notification' }
  }
};
