import { searchIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { ApiDoc, Recommendation } from '../protocol';
import { LookupKind } from '../tokens';
import { Action } from './action';
import { DocText } from './docpage';
import { SourceLink } from './sourcelink';
import { ITools } from './tools';

/** The kind of lookup to offer, by the kind of API. */
const LOOKUP_KINDS: { [kind in ApiDoc['kind']]?: LookupKind } = {
  class: 'class',
  function: 'source',
  method: 'source',
  property: 'source'
};

/** The docs that were found for a subtask, best first, and which of them the model was shown. */
export const RetrievedDocs = React.memo(
  (props: {
    recommendation: Recommendation;
    /** The import paths that the selected candidate uses. */
    used: ReadonlyArray<string>;
    tools: ITools;
  }): React.ReactElement => {
    const { recommendation, tools, used } = props;
    const { trans } = tools;
    const { apis } = recommendation;
    return (
      <section className="jp-exploracoder-docs" aria-label={trans.__('Retrieved docs')}>
        <h4>{trans.__('Retrieved docs')}</h4>
        {apis.length ? (
          <ul>
            {apis.map(({ doc, is_kept: isKept }) => (
              <Doc
                key={doc.path}
                doc={doc}
                isKept={isKept}
                notes={[
                  used.includes(doc.path)
                    ? trans.__('used')
                    : isKept
                      ? trans.__('shown to the model')
                      : trans.__('left out: judged not helpful here')
                ]}
                tools={tools}
              />
            ))}
          </ul>
        ) : (
          <p className="jp-exploracoder-empty">
            {trans.__(
              'Once this subtask is explored, the matching docs of the library are listed here.'
            )}
          </p>
        )}
      </section>
    );
  }
);

/** The docs of everything a solution uses, whether shown to the model or not. */
export const UsedDocs = React.memo(
  (props: { docs: ReadonlyArray<ApiDoc>; tools: ITools }): React.ReactElement => {
    const { docs, tools } = props;
    const title = tools.trans.__('Docs of what it uses');
    return (
      <section className="jp-exploracoder-docs" aria-label={title}>
        <h4>{title}</h4>
        <ul>
          {docs.map(doc => (
            <Doc key={doc.path} doc={doc} isKept notes={[]} tools={tools} />
          ))}
        </ul>
      </section>
    );
  }
);

function Doc(props: {
  doc: ApiDoc;
  isKept: boolean;
  /** Notes to show beside its kind. */
  notes: ReadonlyArray<string>;
  tools: ITools;
}): React.ReactElement {
  const { doc, isKept, notes, tools } = props;
  const [isOpen, setOpen] = React.useState(false);
  return (
    <li data-kept={isKept}>
      <details onToggle={event => setOpen(event.currentTarget.open)}>
        <summary>
          <code>{doc.path}</code>{' '}
          <span className="jp-exploracoder-note">{[doc.kind, ...notes].join(' · ')}</span>
          <span className="jp-exploracoder-summary">{doc.summary}</span>
        </summary>
        {/* Only open entries are put into the page: there may be hundreds. */}
        {isOpen && <Details doc={doc} tools={tools} />}
      </details>
    </li>
  );
}

function Details(props: { doc: ApiDoc; tools: ITools }): React.ReactElement {
  const { doc, tools } = props;
  const { trans } = tools;
  const kind = LOOKUP_KINDS[doc.kind];
  return (
    <div className="jp-exploracoder-doc">
      <DocText doc={doc} tools={tools} />
      <Source doc={doc} tools={tools} />
      {kind && (
        <Action
          label={trans.__('Look up in the source')}
          icon={searchIcon}
          onClick={() => tools.execute('exploracoder:look-up', { kind, text: doc.path })}
        />
      )}
    </div>
  );
}

function Source(props: { doc: ApiDoc; tools: ITools }): React.ReactElement | null {
  const { doc, tools } = props;
  // A library may name any URL as its page: only web addresses are linked.
  const page = doc.url && /^https?:\/\//i.test(doc.url) ? doc.url : null;
  if (!doc.file && !page) {
    return null;
  }
  return (
    <p className="jp-exploracoder-source">
      {doc.file && <SourceLink place={doc.file} file={doc.file} line={doc.line} tools={tools} />}
      {page && (
        <a href={page} target="_blank" rel="noopener noreferrer">
          {page}
        </a>
      )}
    </p>
  );
}
