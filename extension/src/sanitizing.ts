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
// What an element may show without fetching it; a playlist in place of a film would fetch.
const MEDIA = /^data:(audio|video)\/(wav|mpeg|ogg|mp4|webm)[;,]/i;
const SOURCES: Record<string, RegExp> = {
  img: /^(data:image\/|attachment:)/i,
  audio: MEDIA,
  source: MEDIA,
  video: MEDIA
};
const QUIET_FUNCTIONS =
  /^(rgba?|hsla?|calc|min|max|minmax|repeat|[a-z-]*gradient|(translate|scale|rotate|matrix)\w*)?$/i;

/** A sanitizer that, while `isOn` holds, also removes what would act by itself. */
export function quietSanitizer(
  sanitizer: IRenderMime.ISanitizer,
  isOn: () => boolean
): IRenderMime.ISanitizer {
  const sanitize: IRenderMime.ISanitizer['sanitize'] = (dirty, options) => {
    const clean = sanitizer.sanitize(dirty, options);
    if (!isOn()) {
      return clean;
    }
    const page = document.createElement('template');
    page.innerHTML = clean;
    quieten(page.content);
    return page.innerHTML;
  };
  return replacing(sanitizer, { sanitize });
}

/** An object that does what another does, except for some methods. */
export function replacing<T extends object>(original: T, methods: Partial<T>): T {
  return Object.assign(Object.create(original), methods);
}

/** Remove what the browser would fetch: an address carries data to whoever answers it. */
export function quieten(page: ParentNode): void {
  for (const element of page.querySelectorAll('*')) {
    REMOVED.forEach(name => element.removeAttribute(name));
    if (!SOURCES[element.localName]?.test(element.getAttribute('src') ?? '')) {
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
