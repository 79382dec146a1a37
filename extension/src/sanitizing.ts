import { IRenderMime } from '@jupyterlab/rendermime';

const TAGS =
  'a blockquote br code dd del dl dt em h1 h2 h3 h4 h5 h6 hr li ol p pre s span strong sub sup table tbody td th thead tr ul';
const ATTRIBUTES = {
  a: ['href', 'title'],
  code: ['class'],
  ol: ['start'],
  span: ['class'],
  td: ['align'],
  th: ['align']
};

/**
 * Lets text and web links through, but nothing that the browser would fetch, run, or send by
 * itself, such as the images that JupyterLab's own sanitizer allows.
 */
export class TextSanitizer implements IRenderMime.ISanitizer {
  constructor(private readonly _sanitizer: IRenderMime.ISanitizer) {}

  sanitize(dirty: string): string {
    const page = document.createElement('template');
    // Browsers fetch nothing for a template's content.
    page.innerHTML = this._sanitizer.sanitize(dirty, {
      allowedTags: TAGS.split(' '),
      allowedAttributes: ATTRIBUTES,
      allowedStyles: {}
    });
    page.content.querySelectorAll('a').forEach(guard);
    return page.innerHTML;
  }
}

const REMOVED = [
  // The browser fetches these as soon as they are drawn, as it does `src`.
  'background',
  'icon',
  'poster',
  'srcset',
  // JupyterLab runs this on a click, whatever the command.
  'data-commandlinker-command'
];
const QUIET_FUNCTIONS =
  /^(rgba?|hsla?|calc|min|max|minmax|repeat|[a-z-]*gradient|(translate|scale|rotate|matrix)\w*)?$/i;

/** Sanitizes as another does and, while `isOn` holds, removes what would act by itself. */
export class QuietSanitizer implements IRenderMime.ISanitizer {
  constructor(
    private readonly _sanitizer: IRenderMime.ISanitizer,
    private readonly _isOn: () => boolean
  ) {}

  get allowNamedProperties(): boolean {
    return this._sanitizer.allowNamedProperties ?? false;
  }

  getAutolink(): boolean {
    return this._sanitizer.getAutolink?.() ?? true;
  }

  sanitize(dirty: string, options?: IRenderMime.ISanitizerOptions): string {
    const clean = this._sanitizer.sanitize(dirty, options);
    if (!this._isOn()) {
      return clean;
    }
    const page = document.createElement('template');
    page.innerHTML = clean;
    quieten(page.content);
    return page.innerHTML;
  }
}

/** Remove what the browser would fetch: an address carries data to whoever answers it. */
export function quieten(page: ParentNode): void {
  for (const element of page.querySelectorAll('*')) {
    REMOVED.forEach(name => element.removeAttribute(name));
    if (!/^(data|attachment):/i.test(element.getAttribute('src') ?? '')) {
      element.removeAttribute('src');
    }
    if (!isQuiet(element.getAttribute('style') ?? '')) {
      element.removeAttribute('style');
    }
  }
}

/** Whether a style calls no function that could fetch anything; an escape could hide one. */
function isQuiet(style: string): boolean {
  const calls = [...style.matchAll(/([\w-]*)\(/g)];
  return !style.includes('\\') && calls.every(([, name]) => QUIET_FUNCTIONS.test(name));
}

/** Markdown whose diagrams stay text: to draw one, Mermaid fetches the pictures in it. */
export function withoutDiagrams(markdown: string): string {
  return markdown.replace(/([`~]{3}[^\S\r\n]*)mermaid/g, '$1text');
}

/** Let links lead only to the web, without access to this page. */
function guard(link: HTMLAnchorElement): void {
  if (/^https?:\/\//i.test(link.getAttribute('href') ?? '')) {
    link.target = '_blank';
    link.rel = 'noopener';
  } else {
    link.removeAttribute('href');
  }
}
