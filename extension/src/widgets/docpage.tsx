import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { checkIcon, copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { ApiDoc, DocEntry, DocPage, DocPart } from '../protocol';
import { IconAction } from './action';
import { Code } from './code';
import { Prose } from './prose';
import { ITools } from './tools';

const COPIED_MS = 2_000;

/** The docs of an API: signature, text, parameters, results, exceptions, examples. */
export function DocText(props: { doc: ApiDoc; tools: ITools }): React.ReactElement {
  const { doc, tools } = props;
  const { languages, trans } = tools;
  return (
    <>
      {doc.signature && (
        <Code code={doc.signature} label={trans.__('Signature')} languages={languages} />
      )}
      {doc.aliases.length > 0 && (
        <p>
          {trans.__('Also: ')}
          <code>{doc.aliases.join(', ')}</code>
        </p>
      )}
      <Body {...props} />
      {doc.notes.length > 0 && (
        <ul>
          {doc.notes.map(note => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {doc.examples.length > 0 && <h5>{trans.__('Examples')}</h5>}
      {doc.examples.map(code => (
        <Example key={code} code={code} tools={tools} />
      ))}
    </>
  );
}

/** The parsed docs, or the library's raw text until they are parsed or if they cannot be. */
function Body(props: { doc: ApiDoc; tools: ITools }): React.ReactElement {
  const { doc, tools } = props;
  const { rendermime, trans } = tools;
  const page = usePage(doc, tools);
  const text = doc.doc || doc.summary;
  if (!text) {
    return <p className="jp-exploracoder-note">{trans.__('The library does not describe it.')}</p>;
  }
  return page ? (
    <>
      <Prose text={page.text} rendermime={rendermime} />
      {page.parts.map(part => (
        <Part key={part.kind} part={part} tools={tools} />
      ))}
    </>
  ) : (
    <div className="jp-exploracoder-text">{text}</div>
  );
}

function usePage(doc: ApiDoc, tools: ITools): DocPage | null {
  const [page, setPage] = React.useState<DocPage | null>(null);
  React.useEffect(() => {
    let isCurrent = true;
    setPage(null);
    tools.docPage(doc).then(
      found => isCurrent && setPage(found),
      () => undefined
    );
    return () => {
      isCurrent = false;
    };
  }, [doc, tools]);
  return page;
}

function Part(props: { part: DocPart; tools: ITools }): React.ReactElement {
  const { part, tools } = props;
  const title = partWords(tools.trans, part.kind);
  return (
    <>
      <h5>{title}</h5>
      <dl aria-label={title}>
        {part.entries.map((entry, index) => (
          <Entry key={`${index} ${entry.name}`} entry={entry} tools={tools} />
        ))}
      </dl>
    </>
  );
}

function Entry(props: { entry: DocEntry; tools: ITools }): React.ReactElement {
  const { name, text, type } = props.entry;
  return (
    <>
      <dt>
        {name && <code>{name}</code>} {type && <code className="jp-exploracoder-note">{type}</code>}
      </dt>
      <dd>{text && <Prose text={text} rendermime={props.tools.rendermime} />}</dd>
    </>
  );
}

function Example(props: { code: string; tools: ITools }): React.ReactElement {
  const { code, tools } = props;
  const { languages, trans } = tools;
  const [isCopied, setCopied] = React.useState(false);
  React.useEffect(() => {
    const timer = isCopied ? window.setTimeout(() => setCopied(false), COPIED_MS) : undefined;
    return () => window.clearTimeout(timer);
  }, [isCopied]);
  return (
    <div className="jp-exploracoder-example">
      <Code code={code} label={trans.__('Example')} languages={languages} />
      <IconAction
        label={isCopied ? trans.__('Copied') : trans.__('Copy the example')}
        icon={isCopied ? checkIcon : copyIcon}
        onClick={() => {
          Clipboard.copyToSystem(code);
          setCopied(true);
        }}
      />
    </div>
  );
}

function partWords(trans: TranslationBundle, kind: DocPart['kind']): string {
  switch (kind) {
    case 'parameters':
      return trans.__('Parameters');
    case 'attributes':
      return trans.__('Attributes');
    case 'returns':
      return trans.__('Returns');
    case 'yields':
      return trans.__('Yields');
    case 'raises':
      return trans.__('Raises');
  }
}
