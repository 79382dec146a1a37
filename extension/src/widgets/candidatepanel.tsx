import { TranslationBundle } from '@jupyterlab/translation';
import { searchIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { ALL_OF_CANDIDATE } from '../actions';
import { Candidate, Observation } from '../protocol';
import { IExplorationModel, LookupKind } from '../tokens';
import { originWords, runWords } from '../wording';
import { IconAction, MenuButton } from './action';
import { Code } from './code';
import { Difference } from './difference';
import { Outputs } from './outputs';
import { ITools } from './tools';

/** A candidate: its code, its APIs, its outputs, and how it differs from another. */
export function CandidatePanel(props: {
  model: IExplorationModel;
  subtask: string;
  candidate: Candidate;
  others: ReadonlyArray<Candidate>;
  documented: ReadonlySet<string>;
  tools: ITools;
}): React.ReactElement {
  const { candidate, documented, model, others, subtask, tools } = props;
  const { trans } = tools;
  const about = { id: model.id, subtask, candidate: candidate.id };
  const [otherId, setOther] = React.useState('');
  const other = others.find(one => one.id === otherId);
  return (
    <>
      <p className="jp-exploracoder-note">
        {[
          originWords(trans, candidate),
          runWords(trans, candidate.observation),
          ...(candidate.observation
            ? [trans.__('%1 s', candidate.observation.seconds.toFixed(2))]
            : [])
        ].join(' · ')}
        <MenuButton
          label={trans.__('More about this candidate')}
          onOpen={button => {
            const panel = button.closest<HTMLElement>('[role=tabpanel]') ?? button;
            tools.openMenu(ALL_OF_CANDIDATE, about, button, panel);
          }}
        />
      </p>
      {other ? (
        <Difference before={other.code} after={candidate.code} trans={trans} />
      ) : (
        <Code code={candidate.code} label={trans.__('Code')} languages={tools.languages} />
      )}
      {others.length > 1 && (
        <label className="jp-exploracoder-choice">
          {trans.__('Compare with')}
          <select
            className="jp-mod-styled"
            value={otherId}
            onChange={event => setOther(event.target.value)}
          >
            <option value="">{trans.__('none')}</option>
            {others.map(
              (one, index) =>
                one !== candidate && (
                  <option key={one.id} value={one.id}>
                    {trans.__('Candidate %1', index + 1)}
                  </option>
                )
            )}
          </select>
        </label>
      )}
      <ApiMarks candidate={candidate} documented={documented} tools={tools} />
      {candidate.observation && <Result observation={candidate.observation} tools={tools} />}
    </>
  );
}

/** Tells for each API in the code whether it is documented or missing. */
function ApiMarks(props: {
  candidate: Candidate;
  documented: ReadonlySet<string>;
  tools: ITools;
}): React.ReactElement | null {
  const { candidate, documented, tools } = props;
  const { trans } = tools;
  const { apis, problems } = candidate;
  if (!apis.length && !problems.length) {
    return null;
  }
  return (
    <ul className="jp-exploracoder-marks" aria-label={trans.__('APIs used')}>
      {apis.map(path => (
        <li key={path} data-mark="known">
          <code>{path}</code>{' '}
          {documented.has(path) ? trans.__('✓ documented') : trans.__('✓ in this version')}
          <IconAction
            label={trans.__('Look up %1', path)}
            icon={searchIcon}
            onClick={() =>
              tools.execute('exploracoder:look-up', { kind: kindOf(path), text: path })
            }
          />
        </li>
      ))}
      {problems.map(({ name, nearest, owner }) => (
        <li key={`${owner}.${name}`} data-mark="missing">
          <code>{`${owner}.${name}`}</code> {trans.__('✗ not in this version')}
          {nearest.length > 0 && (
            <>
              {trans.__('; it has ')}
              <code>{nearest.join(', ')}</code>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Whether to show a class's members or a source; only the name tells which. */
function kindOf(path: string): LookupKind {
  return /(^|\.)_*\p{Lu}[^.]*$/u.test(path) ? 'class' : 'source';
}

function Result(props: { observation: Observation; tools: ITools }): React.ReactElement {
  const { observation, tools } = props;
  const { trans } = tools;
  const { error, outputs } = observation;
  return (
    <div className="jp-exploracoder-result" role="group" aria-label={trans.__('Output')}>
      {error && (
        <p className="jp-exploracoder-error">
          <strong>{error.ename}</strong>
          {`: ${error.evalue}`}
          {error.line ? ` (${trans.__('line %1', error.line)})` : ''}
        </p>
      )}
      {outputs.length > 0 ? (
        <Outputs outputs={outputs} rendermime={tools.rendermime} />
      ) : (
        !error && <p className="jp-exploracoder-note">{trans.__('No output.')}</p>
      )}
      <Variables observation={observation} trans={trans} />
      {[
        observation.is_truncated && trans.__('The output was cut.'),
        observation.limits_hit.length > 0 &&
          trans.__('Limits: %1', observation.limits_hit.join(', ')),
        observation.note
      ]
        .filter(Boolean)
        .map(text => (
          <p key={`${text}`} className="jp-exploracoder-note">
            {text}
          </p>
        ))}
    </div>
  );
}

function Variables(props: {
  observation: Observation;
  trans: TranslationBundle;
}): React.ReactElement | null {
  const { variables } = props.observation;
  if (!variables.length) {
    return null;
  }
  return (
    <details className="jp-exploracoder-variables">
      <summary>
        {props.trans.__('New or changed: ')}
        <code>{variables.map(one => one.name).join(', ')}</code>
      </summary>
      <dl>
        {variables.map(({ name, preview, type }) => (
          <React.Fragment key={name}>
            <dt>
              <code>{name}</code> {type}
            </dt>
            <dd>
              <code>{preview}</code>
            </dd>
          </React.Fragment>
        ))}
      </dl>
    </details>
  );
}
