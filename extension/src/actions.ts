import { TranslationBundle } from '@jupyterlab/translation';
import {
  addBelowIcon,
  addIcon,
  bugIcon,
  caretDownIcon,
  caretLeftIcon,
  caretRightIcon,
  caretUpIcon,
  checkIcon,
  closeIcon,
  deleteIcon,
  editIcon,
  fastForwardIcon,
  LabIcon,
  notebookIcon,
  refreshIcon,
  runIcon,
  searchIcon,
  stopIcon,
  undoIcon
} from '@jupyterlab/ui-components';
import { explorationIcon } from './icons';
import { Command, OpenExploration } from './protocol';

/** An action that the engine may allow on an exploration, a subtask or a candidate. */
export type Ability = OpenExploration['abilities'][string][number];

/** The target of an action. */
export interface ITarget {
  readonly subtask: string;
  readonly candidate: string | null;
  /** The user's hint for a retry. */
  readonly hint: string;
}

/** A user action, wherever it is offered. */
export interface IAction {
  readonly label: string;
  readonly caption: string;
  readonly icon: LabIcon;
  /** The ability that it requires. */
  readonly ability?: Ability;
  /** The engine's command; `commands.ts` handles actions without one. */
  readonly command?: (target: ITarget) => Command;
}

export type ActionName = keyof ReturnType<typeof ACTIONS>;

/** Actions on a subtask besides accepting: other ways to do it, and changes to the plan. */
export const AGAIN: readonly ActionName[] = ['other-candidates', 'debug', 'replan', 'skip'];
export const MORE: readonly ActionName[] = ['go-back', 'rename', 'delete'];
export const ALL_OF_SUBTASK: readonly ActionName[] = ['accept', ...AGAIN, ...MORE, 'open-notebook'];
export const ALL_OF_CANDIDATE: readonly ActionName[] = ['accept', 'debug'];

/** All actions, by command name without the prefix. */
export function ACTIONS(trans: TranslationBundle) {
  const action = (
    label: string,
    caption: string,
    icon: LabIcon,
    ability?: Ability,
    command?: IAction['command']
  ): IAction => ({ label, caption, icon, ability, command });
  return {
    open: action(trans.__('Show ExploraCoder'), trans.__('Go to the sidebar'), explorationIcon),
    new: action(trans.__('New Exploration'), trans.__('Describe another task'), addIcon),
    explore: action(trans.__('Explore'), trans.__('Continue with the open subtasks'), runIcon),
    'explore-cell': action(
      trans.__('Explore This Cell'),
      trans.__('Explore the task in this cell, or its error'),
      explorationIcon
    ),
    'look-up': action(
      trans.__('Look up in the library’s source'),
      trans.__('Classes, signatures, source, and code like what you describe'),
      searchIcon
    ),
    cancel: action(
      trans.__('Cancel'),
      trans.__('Stop; everything found so far is kept'),
      stopIcon,
      'cancel',
      () => ({ kind: 'cancel' })
    ),
    accept: action(
      trans.__('Accept'),
      trans.__('Continue from this candidate’s state'),
      checkIcon,
      'accept',
      ({ subtask, candidate }) => ({ kind: 'accept', subtask, candidate })
    ),
    debug: action(
      trans.__('Debug'),
      trans.__('Have the model repair this candidate'),
      bugIcon,
      'debug',
      target => ({ kind: 'debug', ...target })
    ),
    'other-candidates': action(
      trans.__('Other candidates'),
      trans.__('Ask for other ways to do this subtask'),
      refreshIcon,
      'draft',
      ({ subtask, hint }) => ({ kind: 'draft', subtask, hint })
    ),
    'go-back': action(
      trans.__('Go back here'),
      trans.__('Reopen this subtask and all later ones'),
      undoIcon,
      'go_back',
      ({ subtask }) => ({ kind: 'go_back', subtask })
    ),
    skip: action(
      trans.__('Skip'),
      trans.__('Leave this subtask out'),
      fastForwardIcon,
      'skip',
      ({ subtask }) => ({ kind: 'skip', subtask })
    ),
    replan: action(
      trans.__('Plan again from here'),
      trans.__('Earlier subtasks stay as they are'),
      refreshIcon,
      'replan',
      ({ subtask }) => ({ kind: 'replan', subtask })
    ),
    rename: action(
      trans.__('Change the goal…'),
      trans.__('Say in other words what this subtask is to do'),
      editIcon,
      'rename_subtask'
    ),
    delete: action(
      trans.__('Delete'),
      trans.__('Take this subtask out of the plan'),
      deleteIcon,
      'delete_subtask'
    ),
    synthesize: action(
      trans.__('Synthesize'),
      trans.__('Write the solution from the accepted subtasks'),
      explorationIcon,
      'synthesize',
      () => ({ kind: 'synthesize' })
    ),
    insert: action(
      trans.__('Insert into my notebook'),
      trans.__('Put the solution into a new cell below the active one'),
      addBelowIcon,
      'insert'
    ),
    resume: action(trans.__('Resume'), trans.__('Continue an exploration'), runIcon),
    replay: action(
      trans.__('Replay'),
      trans.__('Rerun the accepted cells without a model, and compare'),
      refreshIcon
    ),
    'toggle-review': action(
      trans.__('Review Each Step'),
      trans.__('Stop at each subtask, or run to the end'),
      checkIcon
    ),
    'open-notebook': action(
      trans.__('Show the Exploration’s Notebook'),
      trans.__('Open it beside your own'),
      notebookIcon
    ),
    'next-subtask': action(trans.__('Next Subtask'), trans.__('Go to its cell'), caretDownIcon),
    'previous-subtask': action(
      trans.__('Previous Subtask'),
      trans.__('Go to its cell'),
      caretUpIcon
    ),
    'next-candidate': action(
      trans.__('Next Candidate'),
      trans.__('Look at another way to do this subtask'),
      caretRightIcon
    ),
    'previous-candidate': action(
      trans.__('Previous Candidate'),
      trans.__('Look at another way to do this subtask'),
      caretLeftIcon
    ),
    'show-candidate': action(
      trans.__('Show Candidate'),
      trans.__('Look at another way to do this subtask'),
      searchIcon
    ),
    close: action(trans.__('Close Exploration'), trans.__('Shut down its kernel'), closeIcon)
  };
}
