import * as React from 'react';
import { CONFIGURED, EMBEDDED, ModelChoices } from '../modelchoice';
import { ModelChoice, ServerStatus } from '../protocol';
import { sizeInWords } from '../wording';
import { Action } from './action';
import { Download } from './download';
import { EndpointForm } from './endpointform';
import { ITools } from './tools';

interface IOption {
  readonly choice: ModelChoice;
  readonly name: string;
  readonly note: string;
}

/** All models to choose from, and the sandbox status. */
export function ModelMenu(props: {
  id: string;
  models: ModelChoices;
  status: ServerStatus;
  onClose: () => void;
  tools: ITools;
}): React.ReactElement {
  const { id, models, onClose, status, tools } = props;
  const { trans } = tools;
  const { embedded, error, isLooking, servers } = models;
  const root = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    root.current?.querySelector<HTMLElement>('input:checked, input')?.focus();
    void models.look();
  }, [models]);
  return (
    <div
      ref={root}
      id={id}
      role="group"
      aria-label={trans.__('Model and sandbox')}
      className="jp-exploracoder-model-menu"
    >
      <fieldset>
        <legend>{trans.__('Model')}</legend>
        {optionsOf(models, status, tools).map(option => (
          <Option key={keyOf(option.choice)} option={option} models={models} />
        ))}
      </fieldset>
      {embedded && !embedded.is_there && (
        <Download models={models} embedded={embedded} tools={tools} />
      )}
      <p role="status" className="jp-exploracoder-note">
        {isLooking
          ? trans.__('Looking for models on this machine…')
          : servers?.length === 0
            ? trans.__(
                'Nothing else was found on this machine: no Ollama, LM Studio, llama.cpp, vLLM.'
              )
            : ''}
      </p>
      <div role="alert" className="jp-exploracoder-error">
        {error}
      </div>
      <EndpointForm models={models} tools={tools} />
      <h4>{trans.__('Sandbox')}</h4>
      <p className={status.is_sandboxed ? '' : 'jp-exploracoder-warning'}>{status.sandbox}</p>
      <div className="jp-exploracoder-actions">
        <Action label={trans.__('Look again')} onClick={() => void models.look()} />
        <Action
          label={trans.__('Settings')}
          onClick={() => tools.execute('settingeditor:open', { query: 'ExploraCoder' })}
        />
        <Action label={trans.__('Close')} onClick={onClose} />
      </div>
    </div>
  );
}

function Option(props: { option: IOption; models: ModelChoices }): React.ReactElement {
  const { models, option } = props;
  const { choice, name, note } = option;
  const isEmbedded = keyOf(choice) === keyOf(EMBEDDED);
  const isChosen = isEmbedded ? models.isEmbedded : keyOf(choice) === keyOf(models.choice);
  return (
    <label className="jp-exploracoder-choice">
      <input
        type="radio"
        name="jp-exploracoder-model"
        checked={isChosen}
        onChange={() => models.choose(choice)}
      />
      <span>
        {name}
        <span className="jp-exploracoder-note">{note}</span>
      </span>
    </label>
  );
}

/** Each model once: the configured one, the embedded one, those found, the chosen one. */
function optionsOf(models: ModelChoices, status: ServerStatus, tools: ITools): IOption[] {
  const { trans } = tools;
  const { choice, embedded, servers } = models;
  const options: IOption[] = [];
  if (!status.is_embedded) {
    const note = status.model_error || trans.__('configured on the server · %1', status.model_url);
    options.push({ choice: CONFIGURED, name: status.model || trans.__('No model'), note });
  }
  if (embedded) {
    const where = embedded.is_there ? trans.__('on this disk') : trans.__('not on this disk yet');
    const note = [trans.__('embedded'), sizeInWords(trans, embedded.size_bytes), embedded.license];
    options.push({ choice: EMBEDDED, name: embedded.name, note: [...note, where].join(' · ') });
  }
  for (const { base_url, models: names, title } of servers ?? []) {
    options.push(...names.map(name => ({ choice: { name, base_url }, name, note: title })));
  }
  const isListed = options.some(one => keyOf(one.choice) === keyOf(choice));
  if (choice.name && !isListed) {
    options.push({ choice, name: choice.name, note: choice.base_url ?? '' });
  }
  return options;
}

function keyOf({ base_url, name }: ModelChoice): string {
  return `${base_url} ${name}`;
}
