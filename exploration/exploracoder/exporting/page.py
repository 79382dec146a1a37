"""A report as one HTML page that asks nothing of any network and runs nothing.

The picture of branches is text for Mermaid, which a page or an editor with Mermaid draws.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from exploracoder.exporting.blocks import (
    Block,
    Code,
    Flowchart,
    Fold,
    Heading,
    Image,
    Items,
    Markup,
    Text,
    Written,
)
from exploracoder.exporting.markup import harmless

# The browser holds the page to it, whatever an output may have got past us.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 sans-serif; }
pre { overflow-x: auto; padding: 0.6rem; background: #f6f8fa; color: #1f2328; }
pre.output { background: none; border-inline-start: 3px solid #8c959f; }
table { border-collapse: collapse; } th, td { border: 1px solid #8c959f; padding: 0.2rem 0.5rem; }
details { margin: 0.5rem 0; } img { max-width: 100%; }
"""


def page(title: str, blocks: Iterable[Block]) -> str:
    """The whole page."""
    from pygments.formatters import HtmlFormatter

    colours = HtmlFormatter().get_style_defs(".highlight")
    body = "\n".join(map(_block, blocks))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}{colours}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _block(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{html.escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{'<br>'.join(html.escape(line) for line in text.splitlines())}</p>"
        case Items(items):
            lines = (f"<li>{_item(text, address)}</li>" for text, address in items)
            return f"<ul>{''.join(lines)}</ul>"
        case Code(code):
            return _highlighted(code)
        case Fold(title, blocks):
            inside = "\n".join(map(_block, blocks))
            return f"<details><summary>{html.escape(title)}</summary>\n{inside}\n</details>"
        case Flowchart(mermaid):
            return f'<pre class="mermaid">{html.escape(mermaid)}</pre>'
        case Image(kind, data):
            return f'<img alt="output" src="data:{kind};base64,{html.escape(data)}">'
        case Markup(markup):
            return f'<div class="output">{harmless(markup)}</div>'
        case Written(text):
            return f'<pre class="output">{html.escape(text)}</pre>' if text.strip() else ""


def _item(text: str, address: str | None) -> str:
    shown = html.escape(text)
    return f'<a href="{html.escape(address)}">{shown}</a>' if address else shown


def _highlighted(code: str) -> str:
    from nbconvert.filters import Highlight2HTML

    return str(Highlight2HTML()(code))
