import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ActionName, ACTIONS } from '../actions';
import { IExplorationModel } from '../tokens';
import { StripButton, keepKeys } from './toolbar';

/** The row above the solution: insert it, or have it rewritten. */
export function SolutionStrip(props: {
  model: IExplorationModel;
  run: (name: ActionName) => void;
  trans: TranslationBundle;
}): React.ReactElement {
  const { model, run, trans } = props;
  return (
    <div
      role="group"
      aria-label={trans.__('Solution')}
      className="jp-exploracoder-strip"
      onKeyDown={keepKeys}
    >
      <span className="jp-exploracoder-strip-actions">
        {(['insert', 'synthesize'] as const).map(name => {
          const { icon, label } = ACTIONS(trans)[name];
          return (
            <StripButton
              key={name}
              icon={icon}
              label={label}
              isEnabled={model.can(name)}
              isPrimary={name === 'insert' && model.can(name)}
              onClick={() => run(name)}
            />
          );
        })}
      </span>
    </div>
  );
}
