import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { ModelChoices } from '../modelchoice';
import { IStripActions, StepStrip } from '../notebook/toolbar';
import { IStepView } from '../notebook/stepview';
import { Completion } from '../widgets/completion';
import { EndpointForm } from '../widgets/endpointform';
import { TaskBox } from '../widgets/taskbox';
import { ITools } from '../widgets/tools';
import { draw, until } from './waiting';

const trans = nullTranslator.load('exploracoder');
const VIEW: IStepView = {
  subtask: 's1',
  description: 'Subtask 1: pour',
  state: { words: 'Proposed', kind: 'proposed' },
  candidate: 'a',
  place: 1,
  count: 1,
  previous: null,
  next: null,
  isEdited: false
};

afterEach(() => document.body.replaceChildren());

describe('a key that an input method uses to compose a character', () => {
  it('sends no hint', async () => {
    const run = jest.fn();
    const actions = { can: () => true, run } as unknown as IStripActions;
    const page = await draw(<StepStrip view={VIEW} actions={actions} trans={trans} />);
    page.querySelector<HTMLElement>('[aria-expanded]')!.click();
    await until(() => page.querySelector('input') !== null);

    press(page, 'input', 'Enter', true);
    expect(run).not.toHaveBeenCalled();

    press(page, 'input', 'Enter', false);
    expect(run).toHaveBeenCalled();
  });

  it('chooses no library', async () => {
    const choose = jest.fn();
    const page = await draw(
      <Completion
        label={trans.__('Libraries')}
        placeholder=""
        options={[]}
        onFocus={() => undefined}
        onChoose={choose}
      />
    );

    press(page, 'input', 'Enter', true);
    expect(choose).not.toHaveBeenCalled();

    press(page, 'input', 'Enter', false);
    expect(choose).toHaveBeenCalled();
  });

  it('uses no endpoint', async () => {
    const tools = { trans } as ITools;
    const models = { choice: {} } as ModelChoices;
    const page = await draw(<EndpointForm models={models} tools={tools} />);
    const alert = page.querySelector('[role=alert]')!;

    press(page, 'input', 'Enter', true);
    await new Promise(resolve => setTimeout(resolve, 0)); // React renders at the end of this turn
    expect(alert.textContent).toBe('');

    press(page, 'input', 'Enter', false);
    await until(() => alert.textContent !== '');
  });

  it('recalls no earlier task', async () => {
    const change = jest.fn();
    const page = await draw(
      <TaskBox
        text=""
        history={['one']}
        onChange={change}
        onSubmit={() => undefined}
        trans={trans}
      />
    );

    press(page, 'textarea', 'ArrowUp', true);
    expect(change).not.toHaveBeenCalled();

    press(page, 'textarea', 'ArrowUp', false);
    expect(change).toHaveBeenCalledWith('one');
  });
});

function press(page: HTMLElement, field: string, key: string, isComposing: boolean): void {
  // Safari tells by the code alone.
  for (const how of isComposing ? [{ isComposing }, { keyCode: 229 }] : [{}]) {
    page
      .querySelector(field)!
      .dispatchEvent(
        new KeyboardEvent('keydown', { key, ...how, bubbles: true, cancelable: true })
      );
  }
}
