import { MimeModel, RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { KernelSpec } from '@jupyterlab/services';
import { distrust, isScratchKernel } from '../untrusted';

const HURT = '<img src="x" onerror="window.hurt=1"><script>window.hurt=1</script>';
const OUTPUTS = {
  'text/html': HURT,
  'text/markdown': HURT,
  'image/svg+xml': `<svg xmlns="http://www.w3.org/2000/svg"><script>window.hurt=1</script></svg>`,
  'text/latex': HURT,
  'application/javascript': 'window.hurt=1'
};

describe('distrust', () => {
  let isDoubted = true;
  const registry = () => {
    const made = new RenderMimeRegistry({ initialFactories: standardRendererFactories });
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

  async function drawn(made: RenderMimeRegistry, type: keyof typeof OUTPUTS): Promise<HTMLElement> {
    const renderer = made.createRenderer(type);
    await renderer.renderModel(new MimeModel({ data: { [type]: OUTPUTS[type] }, trusted: true }));
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
      project: spec(['python', '-m', 'exploracoder_kernel.kernel', '-f', '{connection_file}'])
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
