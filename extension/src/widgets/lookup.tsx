import { searchIcon, UseSignal } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { isComposing } from '../composing';
import { LibraryEvent, LookedUp, LookupAnswer } from '../protocol';
import { ILookups, LookupKind, LookupScope } from '../tokens';
import { Action } from './action';
import { Code } from './code';
import { eventOf } from './libraries';
import { Section } from './section';
import { SourceLink } from './sourcelink';
import { ITools } from './tools';

interface ILookUpProps {
  lookups: ILookups;
  scope: LookupScope;
  /** The libraries to search, as the server names them. */
  libraries: ReadonlyArray<string>;
  indexing: ReadonlyMap<string, LibraryEvent>;
  tools: ITools;
}

/** The section for looking things up in the source of the libraries. */
export function LookUp(props: ILookUpProps): React.ReactElement {
  const { lookups } = props;
  return (
    <UseSignal signal={lookups.changed}>
      {() => (
        <Section
          title={props.tools.trans.__('Look up')}
          isOpen={lookups.isOpen}
          onToggle={isOpen => lookups.update({ isOpen })}
        >
          <Question {...props} />
          <Outcome {...props} />
        </Section>
      )}
    </UseSignal>
  );
}

function Question(props: ILookUpProps): React.ReactElement {
  const { libraries, lookups, scope, tools } = props;
  const { trans } = tools;
  const field = useWished(lookups, scope);
  const words = kinds(trans);
  const ask = () => {
    if (libraries.length) {
      void lookups.ask(scope);
    }
  };
  return (
    <div
      role="search"
      className="jp-exploracoder-lookup"
      aria-label={trans.__('Look up in the source')}
    >
      <input
        ref={field}
        className="jp-mod-styled"
        aria-label={trans.__('Name or words to look up')}
        placeholder={words[lookups.kind].example}
        value={lookups.text}
        spellCheck={false}
        maxLength={2000}
        onChange={event => lookups.update({ text: event.target.value })}
        onKeyDown={event => {
          if (event.key === 'Enter' && !isComposing(event)) {
            // Don't submit the enclosing form.
            event.preventDefault();
            ask();
          }
        }}
      />
      <div className="jp-exploracoder-row">
        <select
          className="jp-mod-styled"
          aria-label={trans.__('What to look up')}
          value={lookups.kind}
          onChange={event => lookups.update({ kind: event.target.value as LookupKind })}
        >
          {Object.entries(words).map(([kind, { label }]) => (
            <option key={kind} value={kind}>
              {label}
            </option>
          ))}
        </select>
        <Action
          label={trans.__('Look up')}
          icon={searchIcon}
          isDisabled={!libraries.length || !lookups.text.trim()}
          onClick={ask}
        />
      </div>
      {!libraries.length && (
        <p className="jp-exploracoder-note">
          {trans.__('Add a library first: lookups search the source of libraries.')}
        </p>
      )}
    </div>
  );
}

/** The input field: focused when the user is led here; a question that came along is asked. */
function useWished(lookups: ILookups, scope: LookupScope): React.RefObject<HTMLInputElement> {
  const field = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => {
    if (lookups.isWanted) {
      field.current?.focus();
      field.current?.scrollIntoView?.({ block: 'center' });
    }
    if (lookups.isDue) {
      void lookups.ask(scope);
    }
  }, [lookups.wishes]);
  return field;
}

function kinds(trans: TranslationBundle): Record<LookupKind, { label: string; example: string }> {
  return {
    class: { label: trans.__('Class'), example: trans.__('Name of a class') },
    signature: { label: trans.__('Signature'), example: trans.__('function or Class.method') },
    source: { label: trans.__('Source'), example: trans.__('function or Class.method') },
    code: { label: trans.__('Code like this'), example: trans.__('What the code does, in words') }
  };
}

function Outcome(props: ILookUpProps): React.ReactElement {
  const { lookups, scope, tools } = props;
  const outcome = lookups.outcome(scope);
  const answer = outcome?.answer ?? null;
  return (
    <>
      <p role="status" className="jp-exploracoder-note">
        {outcome?.isAsking
          ? readingWords(props) || tools.trans.__('Looking it up…')
          : answer && countWords(tools.trans, answer)}
      </p>
      <div role="alert" className="jp-exploracoder-error">
        {outcome?.error}
      </div>
      {answer && <Answer answer={answer} tools={tools} />}
    </>
  );
}

/** The server's progress in reading a library for the first time or again. */
function readingWords({ indexing, libraries }: ILookUpProps): string {
  const events = libraries.map(name => eventOf(indexing, name));
  return events.find(event => event && !event.is_done)?.message ?? '';
}

function countWords(trans: TranslationBundle, answer: LookupAnswer): string {
  const { found, left_out: leftOut, skipped } = answer;
  const words = [
    found.length
      ? trans._n('%1 result', '%1 results', found.length)
      : trans.__('Nothing was found.')
  ];
  if (leftOut) {
    words.push(trans.__('%1 more not shown', leftOut));
  }
  if (skipped) {
    words.push(trans._n('%1 file could not be read', '%1 files could not be read', skipped));
  }
  return words.join(' · ');
}

function Answer(props: { answer: LookupAnswer; tools: ITools }): React.ReactElement {
  const { answer, tools } = props;
  // No need to say that one library lacks what another one has.
  const problems = answer.found.length ? [] : answer.problems;
  return (
    <>
      {problems.map(problem => (
        <p key={problem} className="jp-exploracoder-text">
          {problem}
        </p>
      ))}
      {answer.found.length > 0 && (
        <ul className="jp-exploracoder-found" aria-label={tools.trans.__('What was found')}>
          {answer.found.map((one, index) => (
            <Result key={`${index} ${one.name}`} found={one} tools={tools} />
          ))}
        </ul>
      )}
    </>
  );
}

function Result(props: { found: LookedUp; tools: ITools }): React.ReactElement {
  const { found, tools } = props;
  const { trans } = tools;
  return (
    <li>
      <code>{found.name}</code> <span className="jp-exploracoder-note">{found.library}</span>
      <Code
        code={found.text}
        label={trans.__('Source of %1', found.name)}
        languages={tools.languages}
      />
      <p className="jp-exploracoder-source">
        {found.place ? (
          <SourceLink place={found.place} file={found.file} line={found.line} tools={tools} />
        ) : (
          <span className="jp-exploracoder-note">{trans.__('compiled')}</span>
        )}
      </p>
    </li>
  );
}
