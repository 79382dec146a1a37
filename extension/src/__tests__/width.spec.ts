import { StateDB } from '@jupyterlab/statedb';
import { MessageLoop } from '@lumino/messaging';
import { SplitPanel, StackedPanel, Widget } from '@lumino/widgets';
import { widenOnce } from '../width';

describe('widenOnce', () => {
  afterEach(() => document.body.replaceChildren());

  it('makes room the first time, and leaves the width alone from then on', async () => {
    const state = new StateDB();
    const { sidebar, split } = page(1500);
    split.setRelativeSizes([210, 1290]);

    await widenOnce(sidebar, state);
    await frames();
    expect(pixels(split)).toEqual([360, 1140]);

    split.setRelativeSizes([280, 1220]);
    await widenOnce(sidebar, state);
    await frames();
    expect(pixels(split)).toEqual([280, 1220]);
  });

  it('leaves one that is wide enough, and most of a narrow window', async () => {
    const wide = page(1500);
    wide.split.setRelativeSizes([500, 1000]);
    const narrow = page(600);
    narrow.split.setRelativeSizes([100, 500]);

    await widenOnce(wide.sidebar, new StateDB());
    await widenOnce(narrow.sidebar, new StateDB());
    await frames();

    expect(pixels(wide.split)).toEqual([500, 1000]);
    expect(pixels(narrow.split)).toEqual([240, 360]);
  });
});

/** A window of the given width with a sidebar; nothing is laid out here. */
function page(width: number) {
  const sidebar = new Widget();
  const stack = new StackedPanel();
  stack.addWidget(sidebar);
  const split = new SplitPanel();
  split.addWidget(stack);
  split.addWidget(new Widget());
  Object.defineProperty(split.node, 'clientWidth', { value: width });
  let sizes: number[] = [];
  split.setRelativeSizes = given => {
    sizes = given;
  };
  split.relativeSizes = () => sizes.map(size => size / sizes.reduce((a, b) => a + b));
  Widget.attach(split, document.body);
  MessageLoop.flush();
  return { sidebar, split };
}

function pixels(split: SplitPanel): number[] {
  return split.relativeSizes().map(size => Math.round(size * split.node.clientWidth));
}

async function frames(): Promise<void> {
  for (let count = 0; count < 3; count++) {
    await new Promise(resolve => requestAnimationFrame(resolve));
  }
}
