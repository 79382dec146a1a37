import { Sanitizer } from '@jupyterlab/apputils';
import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { ApiDoc, DocPage } from '../protocol';
import { DocText } from '../widgets/docpage';
import { ITools } from '../widgets/tools';
import { draw } from './waiting';

const DOC: ApiDoc = {
  path: 'tealeaf.pour',
  kind: 'function',
  library: 'tealeaf',
  signature: 'pour(water: float) -> Tea',
  summary: 'Pour.',
  doc: 'Pour <b>it</b>.',
  examples: ['pour(200)'],
  aliases: [],
  notes: ['Raises: ValueError'],
  file: null,
  line: null,
  url: null,
  mentions: [],
  uses: 0
};
const PAGE: DocPage = {
  text: 'Pour <em>it</em>.',
  parts: [
    {
      kind: 'parameters',
      entries: [{ name: 'water', type: 'float', text: 'How much.' }]
    }
  ]
};
const HOSTILE = [
  '<img src="http://evil.example/x.png" onerror="hurt()">',
  '<picture><source srcset="http://evil.example/y"><img src="//evil.example/z"></picture>',
  '<script src="http://evil.example/s.js">hurt()</script>',
  '<a href="javascript:hurt()">one</a>',
  '<a href="http://tea.example/" onclick="hurt()" ping="http://evil.example">two</a>',
  '<a href="/api/contents">three</a>',
  '<iframe src="http://evil.example"></iframe><video src="http://evil.example"></video>',
  '<p style="background: url(http://evil.example)" class="jp-mod-x">four</p>',
  '<svg><image href="http://evil.example"/></svg><object data="http://evil.example"></object>',
  '<form action="http://evil.example"><input autofocus onfocus="hurt()"></form>',
  '<link rel="stylesheet" href="http://evil.example"><style>@import "http://evil.example"</style>'
].join('\n');

afterEach(() => document.body.replaceChildren());

describe('DocText', () => {
  it('shows signature, parameters, notes and examples', async () => {
    const page = await drawn(() => Promise.resolve(PAGE), 'Pour it.');

    expect(page.querySelector('[aria-label="Signature"]')!.textContent).toBe(DOC.signature);
    expect(page.querySelector('em')!.textContent).toBe('it');
    const list = page.querySelector('dl[aria-label="Parameters"]')!;
    expect(list.querySelector('dt')!.textContent).toBe('water float');
    expect(list.querySelector('dd')!.textContent).toBe('How much.');
    expect(page.querySelector('li')!.textContent).toBe('Raises: ValueError');
    expect(page.querySelector('[aria-label="Example"]')!.textContent).toBe('pour(200)');
    expect(page.querySelector('button[aria-label="Copy the example"]')).not.toBeNull();
  });

  it('shows the text as it stands where it cannot be taken apart', async () => {
    const page = await drawn(() => Promise.reject(new Error('gone')), 'Pour <b>it</b>.');

    expect(page.textContent).toContain('Pour <b>it</b>.');
    expect(page.querySelector('b')).toBeNull();
  });

  it('lets nothing through that runs, or that the browser fetches', async () => {
    const page = await drawn(() => Promise.resolve({ text: HOSTILE, parts: [] }), 'four');

    const prose = page.querySelector('.jp-exploracoder-prose')!;
    expect(prose.textContent).toContain('four');
    expect(prose.innerHTML).not.toContain('evil.example');
    expect(prose.innerHTML).not.toMatch(/hurt|javascript|\son\w+=|<script|<img|<form|style=/);
    const [one, two, three] = Array.from(prose.querySelectorAll('a'));
    expect(one.hasAttribute('href')).toBe(false);
    expect([two.href, two.target, two.rel]).toEqual(['http://tea.example/', '_blank', 'noopener']);
    expect(three.hasAttribute('href')).toBe(false);
  });
});

/** The docs, once they contain the text. */
async function drawn(docPage: ITools['docPage'], text: string): Promise<HTMLElement> {
  const rendermime = new RenderMimeRegistry({
    initialFactories: standardRendererFactories,
    sanitizer: new Sanitizer(),
    // A Markdown parser may return any HTML.
    markdownParser: { render: text => Promise.resolve(text) }
  });
  const trans = nullTranslator.load('exploracoder');
  const tools = { trans, languages: null, rendermime, docPage } as unknown as ITools;
  return draw(<DocText doc={DOC} tools={tools} />, node => node.textContent!.includes(text));
}
