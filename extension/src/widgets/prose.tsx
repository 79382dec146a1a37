import { IRenderMimeRegistry, markdownRendererFactory, MimeModel } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import * as React from 'react';
import { TextSanitizer, withoutDiagrams } from '../sanitizing';

const MARKDOWN = 'text/markdown';
const PLAIN = /^[\w\s.,;:()'"?!/=+-]*$/;

/** Untrusted Markdown: text, code and links only; nothing is fetched for it. */
export function Prose(props: {
  text: string;
  rendermime: IRenderMimeRegistry;
}): React.ReactElement {
  const { rendermime, text } = props;
  const host = React.useRef<HTMLDivElement>(null);
  // Most parameter descriptions need no renderer.
  const isPlain = PLAIN.test(text) && !text.includes('\n');
  // A layout effect: the widget has to be detached while its host is still in the page.
  React.useLayoutEffect(() => {
    if (isPlain || !host.current?.isConnected) {
      return;
    }
    const renderer = textsOf(rendermime).createRenderer(MARKDOWN);
    Widget.attach(renderer, host.current);
    const model = new MimeModel({ data: { [MARKDOWN]: text }, trusted: false });
    void renderer.renderModel(model);
    return () => renderer.dispose();
  }, [isPlain, rendermime, text]);
  return (
    <div className="jp-exploracoder-prose" ref={host}>
      {isPlain ? text : null}
    </div>
  );
}

/** JupyterLab's own renderer, even if an extension replaces it; `$` signs start no formulas. */
function textsOf(rendermime: IRenderMimeRegistry): IRenderMimeRegistry {
  const parser = rendermime.markdownParser;
  const texts = rendermime.clone({
    sanitizer: new TextSanitizer(rendermime.sanitizer),
    latexTypesetter: { typeset: () => undefined },
    markdownParser: parser ? { render: text => parser.render(withoutDiagrams(text)) } : undefined
  });
  texts.addFactory(markdownRendererFactory);
  return texts;
}
