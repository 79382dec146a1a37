import { Time } from '@jupyterlab/coreutils';
import * as React from 'react';
import { Summary } from '../protocol';
import { Action } from './action';
import { Section } from './section';
import { ITools } from './tools';

/** Explorations of before and those that go on in the server, the newest first. */
export function Past(props: {
  explorations: ReadonlyArray<Summary>;
  onShow: (id: string) => void;
  tools: ITools;
}): React.ReactElement {
  const { explorations, onShow, tools } = props;
  const { trans } = tools;
  return (
    <Section
      title={trans.__('Explorations')}
      note={explorations.length ? `${explorations.length}` : undefined}
    >
      {explorations.length ? (
        <ul className="jp-exploracoder-past" aria-label={trans.__('Explorations')}>
          {explorations.map(one => (
            <Entry key={one.id} summary={one} onShow={onShow} tools={tools} />
          ))}
        </ul>
      ) : (
        <p className="jp-exploracoder-empty">
          {trans.__(
            'Each exploration is kept as a notebook beside yours. You will find them here, to go on with or to run again.'
          )}
        </p>
      )}
    </Section>
  );
}

function Entry(props: {
  summary: Summary;
  onShow: (id: string) => void;
  tools: ITools;
}): React.ReactElement {
  const { onShow, summary, tools } = props;
  const { trans } = tools;
  const { created, done, id, is_open: isOpen, path, steps, task } = summary;
  return (
    <li>
      <span className="jp-exploracoder-past-task" title={path}>
        {task}
      </span>
      <span className="jp-exploracoder-note">
        {[
          Time.formatHuman(new Date(created)),
          trans.__('%1 of %2 subtasks', done, steps),
          summary.progress?.message || summary.status
        ].join(' · ')}
      </span>
      <span className="jp-exploracoder-actions">
        {isOpen ? (
          <Action label={trans.__('Show')} onClick={() => onShow(id)} />
        ) : (
          <Action
            label={trans.__('Resume')}
            title={trans.__('Go on with %1', path)}
            onClick={() => tools.execute('exploracoder:resume', { path })}
          />
        )}
        <Action
          label={trans.__('Replay')}
          title={trans.__('Run its accepted cells again, without a model')}
          onClick={() => tools.execute('exploracoder:replay', { path })}
        />
      </span>
    </li>
  );
}
