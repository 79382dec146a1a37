import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { isComposing } from '../composing';
import { ModelChoices } from '../modelchoice';
import { ServerStatus } from '../protocol';
import { ModelMenu } from './modelmenu';
import { ITools } from './tools';

const MENU = 'jp-exploracoder-model-menu';

/** The model and sandbox of the next exploration; a click opens the model menu. */
export function ModelChip(props: {
  models: ModelChoices;
  status: ServerStatus;
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
  tools: ITools;
}): React.ReactElement {
  const { isOpen, models, onToggle, status, tools } = props;
  const { trans } = tools;
  const chip = React.useRef<HTMLButtonElement>(null);
  const { name, url } = models.named;
  const close = () => {
    onToggle(false);
    chip.current?.focus();
  };
  return (
    <div
      className="jp-exploracoder-model"
      onKeyDown={event => {
        if (event.key === 'Escape' && isOpen && !isComposing(event)) {
          event.stopPropagation();
          close();
        }
      }}
    >
      <button
        ref={chip}
        type="button"
        className="jp-exploracoder-model-chip"
        aria-expanded={isOpen}
        aria-controls={isOpen ? MENU : undefined}
        title={trans.__('Model and sandbox of the next exploration')}
        onClick={() => (isOpen ? close() : onToggle(true))}
      >
        <span className="jp-exploracoder-model-name">
          {models.isMissing ? trans.__('No model yet') : name}
        </span>
        {url && <span className="jp-exploracoder-model-place">{hostOf(url)}</span>}
        <span className="jp-exploracoder-model-place" data-warns={!status.is_sandboxed}>
          {status.is_sandboxed ? trans.__('sandbox') : trans.__('⚠ no sandbox')}
        </span>
        <caretDownIcon.react tag="span" aria-hidden="true" />
      </button>
      {isOpen && (
        <ModelMenu id={MENU} models={models} status={status} onClose={close} tools={tools} />
      )}
    </div>
  );
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
