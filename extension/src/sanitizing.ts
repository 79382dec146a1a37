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
 * Lets text through, and links to the web: nothing that the browser would fetch, run, or send by
 * itself, as it would the pictures that JupyterLab's own sanitizer lets through.
 */
export class TextSanitizer implements IRenderMime.ISanitizer {
  constructor(private readonly _sanitizer: IRenderMime.ISanitizer) {}

  sanitize(dirty: string): string {
    const page = document.createElement('template');
    // Nothing is fetched for what stands in a template.
    page.innerHTML = this._sanitizer.sanitize(dirty, {
      allowedTags: TAGS.split(' '),
      allowedAttributes: ATTRIBUTES,
      allowedStyles: {}
    });
    page.content.querySelectorAll('a').forEach(guard);
    return page.innerHTML;
  }
}

/** A link leads to the web, in a page that cannot reach this one. */
function guard(link: HTMLAnchorElement): void {
  if (/^https?:\/\//i.test(link.getAttribute('href') ?? '')) {
    link.target = '_blank';
    link.rel = 'noopener';
  } else {
    link.removeAttribute('href');
  }
}
