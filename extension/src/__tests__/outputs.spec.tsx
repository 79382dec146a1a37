import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import * as React from 'react';
import { Outputs } from '../widgets/outputs';
import { draw } from './waiting';

afterEach(() => document.body.replaceChildren());

describe('Outputs', () => {
  it('draws pictures that came with the output, and fetches none', async () => {
    const rendermime = new RenderMimeRegistry({ initialFactories: standardRendererFactories });
    const html =
      '<b>two</b><img src="https://evil.example/?secret"><img src="data:image/png;base64,AA">';
    const outputs = [{ output_type: 'display_data', data: { 'text/html': html }, metadata: {} }];

    const page = await draw(<Outputs outputs={outputs} rendermime={rendermime} />, node =>
      node.textContent!.includes('two')
    );

    const sources = Array.from(page.querySelectorAll('img'), img => img.getAttribute('src'));
    expect(sources).toEqual([null, 'data:image/png;base64,AA']);
  });
});
