import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Exploration, Progress } from '../protocol';
import { IExplorationModel } from '../tokens';
import { isOpen, nextOpen, statusWords, wordsOf, totalUsage } from '../wording';
import { CommandAction } from './commandaction';
import { LiveText } from './livetext';
import { ITools } from './tools';

/** The exploration's status and progress, and what to do when it stopped. */
export function StatusRegion(props: {
  model: IExplorationModel;
  exploration: Exploration;
  progress: Progress;
  tools: ITools;
}): React.ReactElement {
  const { exploration, model, progress, tools } = props;
  const { trans } = tools;
  const isWorking = progress.activity === 'working';
  const words = statusWords(trans, exploration, progress);
  return (
    <div className="jp-exploracoder-status" data-working={isWorking}>
      <div
        role="status"
        aria-label={trans.__('Exploration status')}
        className="jp-exploracoder-status-words"
      >
        {words}
        {!isWorking && exploration.reason && !progress.error.includes(exploration.reason) ? (
          <p className="jp-exploracoder-note">{exploration.reason}</p>
        ) : null}
      </div>
      {isWorking && <Spent key={words} exploration={exploration} trans={trans} />}
      <LiveText model={model} trans={trans} />
      <PlanProgress exploration={exploration} isWorking={isWorking} tools={tools} />
      {progress.error && (
        <div role="alert" className="jp-exploracoder-error">
          {wordsOf(trans, progress.error_parts)}
        </div>
      )}
      <div className="jp-exploracoder-actions">
        {isWorking ? (
          <CommandAction name="cancel" model={model} tools={tools} />
        ) : (
          <GoOn {...props} />
        )}
        <ModeChoice model={model} progress={progress} tools={tools} />
      </div>
    </div>
  );
}

/** How long the current activity has taken, and the cost so far. */
function Spent(props: { exploration: Exploration; trans: TranslationBundle }): React.ReactElement {
  const { exploration, trans } = props;
  const [seconds, setSeconds] = React.useState(0);
  React.useEffect(() => {
    const since = Date.now();
    const timer = window.setInterval(
      () => setSeconds(Math.round((Date.now() - since) / 1000)),
      1000
    );
    return () => window.clearInterval(timer);
  }, []);
  const { completion_tokens: written, prompt_tokens: read } = totalUsage(exploration);
  const tokens = read + written;
  return (
    <span className="jp-exploracoder-note" aria-hidden="true">
      {[trans.__('%1 s', seconds), tokens ? trans.__('%1 tokens', tokens.toLocaleString()) : '']
        .filter(Boolean)
        .join(' · ')}
    </span>
  );
}

function PlanProgress(props: {
  exploration: Exploration;
  isWorking: boolean;
  tools: ITools;
}): React.ReactElement {
  const { exploration, isWorking, tools } = props;
  const { trans } = tools;
  const decided = exploration.steps.filter(step => !isOpen(step)).length;
  const total = exploration.steps.length;
  const isVague = isWorking && !total;
  return (
    <div
      role="progressbar"
      className="jp-exploracoder-progress"
      aria-label={trans.__('Subtasks decided')}
      aria-valuemin={0}
      aria-valuemax={total || 1}
      aria-valuenow={isVague ? undefined : decided}
      aria-valuetext={total ? trans.__('%1 of %2', decided, total) : trans.__('Planning')}
      data-vague={isVague}
    >
      <div style={{ width: `${total ? (100 * decided) / total : 0}%` }} />
    </div>
  );
}

/**
 * Continues the exploration: explores a reviewed plan, or a task that a first try solved; resumes
 * one that was stopped.
 */
function GoOn(props: {
  model: IExplorationModel;
  exploration: Exploration;
  progress: Progress;
  tools: ITools;
}): React.ReactElement | null {
  const { exploration, model, progress, tools } = props;
  const { trans } = tools;
  const isDecided = exploration.is_planned && nextOpen(exploration) === null;
  if (!model.can('go_on') || isDecided) {
    return null;
  }
  const isPlanReview = progress.activity === 'review';
  const isSolved = exploration.solution !== null;
  return (
    <CommandAction
      name="explore"
      model={model}
      tools={tools}
      isPrimary={!isSolved}
      label={isPlanReview || isSolved ? undefined : trans.__('Resume')}
      title={
        isSolved
          ? trans.__('Explore step by step instead; the solution is then rewritten')
          : undefined
      }
    />
  );
}

function ModeChoice(props: {
  model: IExplorationModel;
  progress: Progress;
  tools: ITools;
}): React.ReactElement {
  const { model, progress, tools } = props;
  const isReview = progress.mode === 'review';
  return (
    <label className="jp-exploracoder-choice">
      <input
        type="checkbox"
        checked={isReview}
        onChange={() =>
          tools.send(model, {
            kind: 'set_mode',
            mode: isReview ? 'auto' : 'review'
          })
        }
      />
      {tools.trans.__('Review each step')}
    </label>
  );
}
