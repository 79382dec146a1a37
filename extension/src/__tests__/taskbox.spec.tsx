import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { TaskBox } from '../widgets/taskbox';
import { draw, until } from './waiting';

const HISTORY = ['newest\ntask', 'older'];

afterEach(() => document.body.replaceChildren());

describe('TaskBox', () => {
  function Box(): React.ReactElement {
    const [text, setText] = React.useState('one long paragraph');
    return (
      <TaskBox
        text={text}
        history={HISTORY}
        onChange={setText}
        onSubmit={() => undefined}
        trans={nullTranslator.load('exploracoder')}
      />
    );
  }

  const press = (box: HTMLTextAreaElement, key: string, caret: number) => {
    box.setSelectionRange(caret, caret);
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    box.dispatchEvent(event);
    return event.defaultPrevented;
  };

  it('brings back an earlier task only from the beginning of what is typed', async () => {
    const box = (await draw(<Box />)).querySelector('textarea')!;

    expect(press(box, 'ArrowUp', 5)).toBe(false);
    expect(press(box, 'ArrowUp', 0)).toBe(true);
    await until(() => box.value === HISTORY[0]);
    // One that was brought back is left from any place in its first line.
    expect(press(box, 'ArrowUp', 3)).toBe(true);
    await until(() => box.value === HISTORY[1]);
  });

  it('gives back what was typed, and what an earlier task was edited to', async () => {
    const box = (await draw(<Box />)).querySelector('textarea')!;
    press(box, 'ArrowUp', 0);
    await until(() => box.value === HISTORY[0]);

    const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')!.set!;
    set.call(box, 'newest\nbut other');
    box.dispatchEvent(new Event('input', { bubbles: true }));
    await until(() => box.textContent === 'newest\nbut other');

    expect(press(box, 'ArrowDown', 8)).toBe(false);
    press(box, 'ArrowDown', box.value.length);
    await until(() => box.value === 'one long paragraph');
    press(box, 'ArrowUp', 0);
    await until(() => box.value === 'newest\nbut other');
  });
});
