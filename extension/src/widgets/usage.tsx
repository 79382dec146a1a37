import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Exploration, Spending } from '../protocol';
import { IPrices, money, totalUsage } from '../wording';
import { Section } from './section';

/** What an exploration has cost, in total and by part. */
export function UsagePart(props: {
  exploration: Exploration;
  prices: IPrices | null;
  trans: TranslationBundle;
}): React.ReactElement {
  const { exploration, prices, trans } = props;
  const usage = totalUsage(exploration);
  const tokens = usage.prompt_tokens + usage.completion_tokens;
  const parts = [trans.__('%1 tokens', tokens.toLocaleString())];
  parts.push(trans.__('%1 s', Math.round(exploration.seconds_total)));
  if (prices) {
    parts.push(money(usage, prices).toFixed(2));
  }
  return (
    <Section title={trans.__('Usage')} note={parts.join(' · ')} isOpen={false}>
      <table className="jp-exploracoder-usage">
        <thead>
          <tr>
            <th scope="col">{trans.__('Part')}</th>
            <th scope="col">{trans.__('Calls')}</th>
            <th scope="col">{trans.__('Prompt')}</th>
            <th scope="col">{trans.__('Reply')}</th>
            <th scope="col">{trans.__('Model, s')}</th>
            <th scope="col">{trans.__('Runs, s')}</th>
            {prices && <th scope="col">{trans.__('Cost')}</th>}
          </tr>
        </thead>
        <tbody>
          {exploration.spending.map(one => (
            <Row key={one.part} spending={one} prices={prices} />
          ))}
        </tbody>
      </table>
      <p className="jp-exploracoder-note">
        {trans.__('Model: %1', exploration.model || trans.__('none yet'))}
        {' · '}
        {trans.__(
          '%1 of the prompt tokens came from the server’s cache',
          usage.cached_tokens.toLocaleString()
        )}
      </p>
    </Section>
  );
}

function Row(props: { spending: Spending; prices: IPrices | null }): React.ReactElement {
  const { prices, spending } = props;
  const { part, seconds_execution: runs, usage } = spending;
  return (
    <tr>
      <th scope="row">{part}</th>
      <td>{usage.calls}</td>
      <td>{usage.prompt_tokens.toLocaleString()}</td>
      <td>{usage.completion_tokens.toLocaleString()}</td>
      <td>{usage.seconds.toFixed(1)}</td>
      <td>{runs.toFixed(1)}</td>
      {prices && <td>{money(usage, prices).toFixed(4)}</td>}
    </tr>
  );
}
