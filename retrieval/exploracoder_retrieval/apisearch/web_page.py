"""A page that a web search found, and which pages count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

# Where people write about the APIs of Python libraries.
SITES = (
    "docs.python.org",
    "readthedocs.io",
    "stackoverflow.com",
    "numpy.org",
    "scipy.org",
    "pandas.pydata.org",
    "scikit-learn.org",
    "pytorch.org",
)
# How long a search may block its caller, in seconds. Source: ToolCoder, section 3.1.
LIMIT_S = 0.6
MAX_PAGES = 20
_TEXT_CHARS = 2_000


class Page(BaseModel):
    """One result: the text that the search engine shows for a page."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    url: str
    text: str

    @property
    def host(self) -> str:
        """The server's name; empty if the address is not http or https."""
        try:
            parts = urlsplit(self.url)
            return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
        except ValueError:
            return ""


def allowed(pages: Iterable[Page], sites: Sequence[str]) -> tuple[Page, ...]:
    """The pages on these sites or their subdomains: engines may ignore the restriction."""
    matches = [
        page.model_copy(update={"title": page.title[:_TEXT_CHARS], "text": page.text[:_TEXT_CHARS]})
        for page in pages
        if any(page.host == site or page.host.endswith(f".{site}") for site in sites)
    ]
    return tuple(matches[:MAX_PAGES])


def restricted(query: str, sites: Sequence[str]) -> str:
    """The query, restricted to pages on these sites."""
    return f"{query} ({' OR '.join(f'site:{site}' for site in sites)})"
