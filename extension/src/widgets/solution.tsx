import * as React from 'react';
import { Attempt, Exploration, Progress } from '../protocol';
import { IExplorationModel } from '../tokens';
import { finalAttempt, verificationWords } from '../wording';
import { CommandAction } from './commandaction';
import { Outputs } from './outputs';
import { UsedDocs } from './retrieveddocs';
import { Section } from './section';
import { ITools } from './tools';
import { WrittenCode } from './writtencode';

/** The solution and whether it was verified; before there is one, how to get it. */
export function SolutionPart(props: {
  model: IExplorationModel;
  exploration: Exploration;
  progress: Progress;
  exportUrl: (format: 'py' | 'md' | 'ipynb') => string;
  tools: ITools;
}): React.ReactElement {
  const { exploration, exportUrl, model, progress, tools } = props;
  const { trans } = tools;
  const attempt = finalAttempt(exploration);
  return (
    <Section title={trans.__('Solution')}>
      <p>{verificationWords(trans, exploration)}</p>
      {attempt && <Final attempt={attempt} tools={tools} />}
      {model.warning && (
        <p className="jp-exploracoder-warning" role="note">
          {model.warning}
        </p>
      )}
      <div className="jp-exploracoder-actions">
        <CommandAction
          name="synthesize"
          model={model}
          tools={tools}
          isPrimary={!attempt && progress.activity === 'review'}
        />
        <CommandAction name="insert" model={model} tools={tools} isPrimary={model.can('insert')} />
      </div>
      {attempt && model.isOpen && (
        <p className="jp-exploracoder-source">
          {trans.__('Download: ')}
          <a href={exportUrl('py')} download>
            {trans.__('Python')}
          </a>
          <a href={exportUrl('md')} download>
            {trans.__('Markdown')}
          </a>
          <a href={exportUrl('ipynb')} download>
            {trans.__('Notebook')}
          </a>
        </p>
      )}
    </Section>
  );
}

function Final(props: { attempt: Attempt; tools: ITools }): React.ReactElement {
  const { attempt, tools } = props;
  const { check_observation: check, code, observation } = attempt;
  const failure = [observation, check].find(one => one?.error)?.error;
  return (
    <>
      <WrittenCode code={code} searches={attempt.searches} tools={tools} />
      {failure && <p className="jp-exploracoder-error">{`${failure.ename}: ${failure.evalue}`}</p>}
      {observation.outputs.length > 0 && (
        <Outputs outputs={observation.outputs} rendermime={tools.rendermime} />
      )}
      {attempt.docs.length > 0 && <UsedDocs docs={attempt.docs} tools={tools} />}
    </>
  );
}
