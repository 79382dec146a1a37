import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import * as React from 'react';

/** Python code, shown as plain text until it is highlighted. */
export function Code(props: {
  code: string;
  label: string;
  languages: IEditorLanguageRegistry | null;
}): React.ReactElement {
  const { code, label, languages } = props;
  const host = React.useRef<HTMLElement>(null);
  React.useEffect(() => {
    let isCurrent = true;
    const shown = document.createElement('span');
    const python = languages?.findByName('python') ?? null;
    if (languages && python) {
      void languages.highlight(code, python, shown).then(() => {
        if (isCurrent) {
          host.current?.replaceChildren(shown);
        }
      });
    }
    host.current?.replaceChildren(code);
    return () => {
      isCurrent = false;
    };
  }, [code, languages]);
  return (
    // Focusable, so that keys can scroll it.
    <pre className="jp-exploracoder-code cm-s-jupyter" tabIndex={0} role="group" aria-label={label}>
      <code ref={host} />
    </pre>
  );
}
