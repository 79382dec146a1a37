import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import * as React from 'react';
import { Draft, IPlace } from '../draft';
import { InstalledLibrary } from '../protocol';
import { ITaskFormProps, TaskForm } from '../widgets/taskform';
import { ITools } from '../widgets/tools';
import { draw, until } from './waiting';

const library = (name: string): InstalledLibrary => ({
  name,
  import_name: name,
  version: '1.0',
  is_indexed: false
});
const place = (kernelName: string): IPlace => ({
  path: 'tea.ipynb',
  kernelName,
  kernelId: null,
  cells: []
});

afterEach(() => document.body.replaceChildren());

describe('the names of libraries in the form', () => {
  const asked: { resolve: (found: InstalledLibrary[]) => void; reject: (error: Error) => void }[] =
    [];
  let shown: IPlace;
  let redraw: () => void;

  function Form(): React.ReactElement {
    const [, setCount] = React.useState(0);
    redraw = () => setCount(count => count + 1);
    const props = {
      draft: new Draft(),
      place: shown,
      status: null,
      indexing: new Map(),
      lookups: { isOpen: false },
      models: { changed: new Signal({}), isMissing: false, hasArrived: false },
      loadLibraries: () =>
        new Promise<InstalledLibrary[]>((resolve, reject) => asked.push({ resolve, reject })),
      tools: { trans: nullTranslator.load('exploracoder') } as ITools
    };
    return (
      <div data-kernel={shown.kernelName}>
        <TaskForm {...(props as unknown as ITaskFormProps)} />
      </div>
    );
  }

  it('are asked for again when that failed, and are those of the current kernel', async () => {
    shown = place('one');
    const page = await draw(<Form />);
    const field = page.querySelector<HTMLElement>('[aria-label="Add a library"]')!;
    const options = () =>
      Array.from(page.querySelectorAll('[role=option]'), one => one.textContent!.split(' ')[0]);
    const again = () => {
      field.blur();
      field.focus();
    };

    again();
    asked[0].reject(new Error('The kernel is not Python.'));
    await until(() => page.textContent!.includes('The kernel is not Python.'));
    again();
    expect(asked.length).toBe(2);
    shown = place('two');
    redraw();
    await until(() => page.querySelector('[data-kernel=two]') !== null);
    again();
    asked[2].resolve([library('teapots')]);
    await until(() => options().length > 0);
    asked[1].resolve([library('outdated')]);
    await new Promise(resolve => setTimeout(resolve, 20));

    expect(options()).toEqual(['teapots']);
    expect(page.textContent).not.toContain('The kernel is not Python.');
  });
});
