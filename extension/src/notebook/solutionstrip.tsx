import { addBelowIcon, refreshIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { StripButton, keepKeys } from './toolbar';

/** The strip above the solution: take it over, or have it written anew. */
export function SolutionStrip(props: {
  isEnabled: (action: 'insert' | 'synthesize') => boolean;
  run: (command: string) => void;
  trans: TranslationBundle;
}): React.ReactElement {
  const { isEnabled, run, trans } = props;
  return (
    <div
      role="group"
      aria-label={trans.__('Solution')}
      className="jp-exploracoder-strip"
      onKeyDown={keepKeys}
    >
      <span className="jp-exploracoder-strip-actions">
        <StripButton
          icon={addBelowIcon}
          label={trans.__('Insert into my notebook')}
          isEnabled={isEnabled('insert')}
          isPrimary={isEnabled('insert')}
          onClick={() => run('exploracoder:insert')}
        />
        <StripButton
          icon={refreshIcon}
          label={trans.__('Synthesize')}
          isEnabled={isEnabled('synthesize')}
          onClick={() => run('exploracoder:synthesize')}
        />
      </span>
    </div>
  );
}
