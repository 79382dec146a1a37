import * as React from 'react';
import { ActionName, ACTIONS } from '../actions';
import { IExplorationModel } from '../tokens';
import { Action } from './action';
import { ITools } from './tools';

/** A button for an action on the whole exploration. */
export function CommandAction(props: {
  name: ActionName;
  model: IExplorationModel;
  tools: ITools;
  isPrimary?: boolean;
  /** The name and description to use where the usual ones would mislead. */
  label?: string;
  title?: string;
}): React.ReactElement {
  const { isPrimary, model, name, tools } = props;
  const { ability, caption, icon, label } = ACTIONS(tools.trans)[name];
  return (
    <Action
      label={props.label ?? label}
      icon={icon}
      title={props.title ?? caption}
      isPrimary={isPrimary}
      isDisabled={ability !== undefined && !model.can(ability)}
      onClick={() => tools.execute(`exploracoder:${name}`, { id: model.id })}
    />
  );
}
