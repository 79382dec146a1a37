import * as React from 'react';
import { isComposing } from '../composing';
import { ModelChoices } from '../modelchoice';
import { Action } from './action';
import { Section } from './section';
import { ITools } from './tools';

/** A form for any other OpenAI-compatible server: address and model, never a key. */
export function EndpointForm(props: { models: ModelChoices; tools: ITools }): React.ReactElement {
  const { models, tools } = props;
  const { trans } = tools;
  const [url, setUrl] = React.useState(models.choice.base_url ?? '');
  const [name, setName] = React.useState(url ? (models.choice.name ?? '') : '');
  const [error, setError] = React.useState('');
  const use = () => {
    const isAddress = /^https?:\/\/[^\s/]/.test(url.trim());
    if (!isAddress) {
      setError(trans.__('An address looks like http://127.0.0.1:8000/v1.'));
    } else if (!name.trim()) {
      setError(trans.__('Name the model, as its server calls it.'));
    } else {
      setError('');
      models.choose({ name: name.trim(), base_url: url.trim() });
    }
  };
  const field = (label: string, value: string, example: string, set: (text: string) => void) => (
    <input
      type="text"
      className="jp-mod-styled"
      aria-label={label}
      placeholder={example}
      spellCheck={false}
      autoComplete="off"
      maxLength={500}
      value={value}
      onChange={event => set(event.target.value)}
      onKeyDown={event => {
        if (event.key === 'Enter' && !isComposing(event)) {
          // Do not start exploring.
          event.preventDefault();
          use();
        }
      }}
    />
  );
  return (
    <Section title={trans.__('Another endpoint')} isOpen={false}>
      {field(trans.__('Address'), url, 'https://api.example.com/v1', setUrl)}
      {field(trans.__('Model'), name, trans.__('Name of the model'), setName)}
      <div role="alert" className="jp-exploracoder-error">
        {error}
      </div>
      <Action label={trans.__('Use this endpoint')} onClick={use} />
      <p className="jp-exploracoder-note">
        {trans.__(
          'A key is never typed here: the server sends OPENAI_API_KEY to the endpoint that it is configured with, and nowhere else; c.ExploraCoder.key_variables names the keys of others.'
        )}
      </p>
    </Section>
  );
}
