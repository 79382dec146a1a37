import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { IKernelVariable } from '../variables';
import { ContextPicker } from '../widgets/contextpicker';
import { ITools } from '../widgets/tools';
import { draw, until } from './waiting';

const PLACE = { path: 'tea.ipynb', kernelName: 'python3', kernelId: 'k1', cells: [] };

afterEach(() => document.body.replaceChildren());

describe('ContextPicker', () => {
  it('says that a kernel is busy or why it does not answer, and asks again', async () => {
    const answers: (() => Promise<IKernelVariable[] | null>)[] = [
      () => Promise.resolve(null),
      () => Promise.reject(new Error('The kernel is gone.')),
      () => Promise.resolve([{ name: 'pot', type: 'Pot' }]),
      () => Promise.resolve([{ name: 'cup', type: 'Cup' }])
    ];
    const page = await draw(
      <ContextPicker
        place={PLACE}
        cells={[]}
        bring={[]}
        onCells={() => undefined}
        onBring={() => undefined}
        loadVariables={() => answers.shift()!()}
        tools={{ trans: nullTranslator.load('exploracoder') } as ITools}
      />
    );
    const ask = () =>
      Array.from(page.querySelectorAll('button'))
        .find(button => /variables/.test(button.textContent!))!
        .click();

    ask();
    await until(() => page.textContent!.includes('The kernel is busy.'));
    ask();
    await until(() => page.textContent!.includes('The kernel is gone.'));
    ask();
    await until(() => page.textContent!.includes('pot: Pot'));
    expect(page.textContent).not.toContain('The kernel is gone.');
    ask();
    await until(() => page.textContent!.includes('cup: Cup'));
    expect(page.textContent).not.toContain('pot: Pot');
  });
});
