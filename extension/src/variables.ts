import { Kernel } from '@jupyterlab/services';

/** A variable of the user's kernel. */
export interface IKernelVariable {
  readonly name: string;
  readonly type: string;
}

// A silent user expression: nothing is assigned, printed, or added to the history.
const EXPRESSION = [
  '__import__("json").dumps([',
  '[name, type(get_ipython().user_ns[name]).__name__]',
  ' for name in get_ipython().run_line_magic("who_ls", "")], ensure_ascii=False)'
].join('');

const NO_DATA = new Set(['module', 'type', 'builtin_function_or_method']);

/**
 * A kernel's variables that may be worth bringing along; none if it is not IPython, and null while
 * it is busy.
 */
export async function variablesOf(
  kernel: Kernel.IKernelConnection
): Promise<IKernelVariable[] | null> {
  // A busy kernel would answer only when it is done.
  if (kernel.status !== 'idle') {
    return null;
  }
  const future = kernel.requestExecute({
    code: '',
    silent: true,
    store_history: false,
    user_expressions: { variables: EXPRESSION }
  });
  const { content } = await future.done;
  return content.status === 'ok' ? parse(content.user_expressions as IExpressions) : [];
}

interface IExpressions {
  variables?: { status?: string; data?: { 'text/plain'?: string } };
}

function parse(expressions: IExpressions): IKernelVariable[] {
  const shown = expressions.variables?.data?.['text/plain'] ?? '';
  try {
    // Python's repr adds quotes; the string itself has none of that kind, and no escapes.
    const pairs = JSON.parse(shown.slice(1, -1)) as [string, string][];
    return pairs.map(([name, type]) => ({ name, type })).filter(({ type }) => !NO_DATA.has(type));
  } catch {
    return [];
  }
}
