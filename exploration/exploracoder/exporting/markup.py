"""HTML that code put out, made harmless."""

from __future__ import annotations

import re

_TAGS = (
    "a abbr b blockquote br caption code dd div dl dt em h1 h2 h3 h4 h5 h6 hr i li ol p pre small"
    " span strong sub sup table tbody td tfoot th thead tr ul"
)
_ATTRIBUTES = {"a": ["href", "title"], "td": ["colspan", "rowspan"], "th": ["colspan", "rowspan"]}
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)


def harmless(markup: str) -> str:
    """HTML of a stranger's with what shows something, and nothing that does something."""
    from nbconvert.preprocessors.sanitize import SanitizeHTML

    cleaner = SanitizeHTML(tags=_TAGS.split(), attributes=_ATTRIBUTES, strip=True)
    # The texts of scripts and styles would be left standing as words.
    return str(cleaner.sanitize_html_tags(_UNSEEN.sub("", markup)))
