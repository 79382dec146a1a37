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

/** How a command looks in menus and in the palette. */
export interface ICommandLook {
  label: string;
  caption: string;
  icon: LabIcon;
}

/** How the commands look, by their names without the prefix. */
export function COMMANDS(trans: TranslationBundle): { [name: string]: ICommandLook } {
  const look = (label: string, caption: string, icon: LabIcon) => ({ label, caption, icon });
  return {
    open: look(trans.__('Show ExploraCoder'), trans.__('Go to the sidebar'), explorationIcon),
    new: look(trans.__('New Exploration'), trans.__('Describe another task'), addIcon),
    explore: look(trans.__('Explore'), trans.__('Continue with the open subtasks'), runIcon),
    'explore-cell': look(
      trans.__('Explore This Cell'),
      trans.__('Explore the task in this cell, or its error'),
      explorationIcon
    ),
    'look-up': look(
      trans.__('Look up in the library’s source'),
      trans.__('Classes, signatures, source, and code like what you describe'),
      searchIcon
    ),
    cancel: look(trans.__('Cancel'), trans.__('Stop; everything found so far is kept'), stopIcon),
    accept: look(trans.__('Accept'), trans.__('Continue from this candidate’s state'), checkIcon),
    debug: look(trans.__('Debug'), trans.__('Have the model repair this candidate'), bugIcon),
    'other-candidates': look(
      trans.__('Other candidates'),
      trans.__('Ask for other ways to do this subtask'),
      refreshIcon
    ),
    'go-back': look(
      trans.__('Go back here'),
      trans.__('Reopen this subtask and all later ones'),
      undoIcon
    ),
    skip: look(trans.__('Skip'), trans.__('Leave this subtask out'), fastForwardIcon),
    replan: look(
      trans.__('Plan again from here'),
      trans.__('Earlier subtasks stay as they are'),
      refreshIcon
    ),
    synthesize: look(
      trans.__('Synthesize'),
      trans.__('Write the solution from the accepted subtasks'),
      explorationIcon
    ),
    insert: look(
      trans.__('Insert into my notebook'),
      trans.__('Put the solution into a new cell below the active one'),
      addBelowIcon
    ),
    resume: look(trans.__('Resume'), trans.__('Continue an exploration'), runIcon),
    replay: look(
      trans.__('Replay'),
      trans.__('Rerun the accepted cells without a model, and compare'),
      refreshIcon
    ),
    'toggle-review': look(
      trans.__('Review Each Step'),
      trans.__('Stop at each subtask, or run to the end'),
      checkIcon
    ),
    'open-notebook': look(
      trans.__('Show the Exploration’s Notebook'),
      trans.__('Open it beside your own'),
      notebookIcon
    ),
    'next-subtask': look(trans.__('Next Subtask'), trans.__('Go to its cell'), caretDownIcon),
    'previous-subtask': look(trans.__('Previous Subtask'), trans.__('Go to its cell'), caretUpIcon),
    'next-candidate': look(
      trans.__('Next Candidate'),
      trans.__('Look at another way to do this subtask'),
      caretRightIcon
    ),
    'previous-candidate': look(
      trans.__('Previous Candidate'),
      trans.__('Look at another way to do this subtask'),
      caretLeftIcon
    ),
    close: look(trans.__('Close Exploration'), trans.__('Shut down its kernel'), closeIcon)
  };
}
