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

/** Let links lead only to the web, without access to this page. */
function guard(link: HTMLAnchorElement): void {
  if (/^https?:\/\//i.test(link.getAttribute('href') ?? '')) {
    link.target = '_blank';
    link.rel = 'noopener';
  } else {
    link.removeAttribute('href');
  }
}
