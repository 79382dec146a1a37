"""An exploration as a report: task, plan, each subtask with what was tried, solution, branches."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any

from exploracoder_kernel.observation import Observation

from exploracoder import document
from exploracoder.document import escape_markdown
from exploracoder.exporting.outputs import harmless_outputs, image
from exploracoder.prompts import as_code
from exploracoder.state import Candidate, Exploration, Solution, Step

# The browser enforces this even if an output got past our sanitizing.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 sans-serif; }
pre > code { display: block; overflow-x: auto; padding: 0.6rem; }
.language-python { background: #f6f8fa; color: #1f2328; }
.language-text { border-inline-start: 3px solid #8c959f; }
table { border-collapse: collapse; } th, td { border: 1px solid #8c959f; padding: 0.2rem 0.5rem; }
details { margin: 0.5rem 0; } img { max-width: 100%; }
"""


def page(exploration: Exploration) -> str:
    """The report as an HTML page that makes no network requests and runs no scripts.

    The picture of branches stays Mermaid source, for an editor that can draw it.
    """
    from markdown_it import MarkdownIt
    from pygments.formatters import HtmlFormatter

    colours = HtmlFormatter().get_style_defs("code")
    body = MarkdownIt("commonmark", {"highlight": _highlighted}).render(report(exploration))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{html.escape(document.title_of(exploration.task))}</title>\n"
        f"<style>{_STYLE}{colours}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def _highlighted(code: str, language: str, _: str) -> str:
    """Highlight Python; an empty result leaves everything else to be escaped."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    if language != "python":
        return ""
    return str(highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)))


def report(exploration: Exploration) -> str:
    """The report as Markdown, with the pictures and tables of outputs as HTML in it."""
    return "\n\n".join(part for part in _parts(exploration) if part) + "\n"


def _parts(exploration: Exploration) -> Iterator[str]:
    yield document.task_text(exploration)
    if exploration.steps:
        yield "## Plan"
        yield _items(step.subtask.goal for step in exploration.steps)
    if exploration.task.context:
        yield f"## Context\n\n{as_code(exploration.task.context)}"
    for number, step in enumerate(exploration.steps, start=1):
        yield document.step_text(number, step)
        yield from _tried(step)
    yield document.verdict_text(exploration)
    if exploration.solution is not None:
        yield from _solution(exploration.solution, exploration.task.check)
    if exploration.steps:
        yield document.picture(exploration)
    yield f"## Cost\n\n{document.cost(exploration)}"
    how = (("method", exploration.method), ("sandbox", exploration.sandbox))
    yield " · ".join(f"{name}: {escape_markdown(value)}" for name, value in how if value)


def _tried(step: Step) -> Iterator[str]:
    docs = [doc for doc in step.recommendation.kept if doc.summary]
    if docs:
        yield _fold("What the docs say", _items(f"{doc.path}: {doc.summary}" for doc in docs))
    for number, candidate in enumerate(step.candidates, start=1):
        text = _candidate(candidate)
        if candidate.id != step.chosen:
            how = "ran" if candidate.ran else "did not run"
            text = _fold(f"Candidate {number} ({candidate.origin}) {how}", text)
        yield text


def _candidate(candidate: Candidate) -> str:
    problems = _items(map(str, candidate.problems))
    return "\n\n".join(filter(None, [problems, _run(candidate.code, candidate.observation)]))


def _solution(solution: Solution, check: str) -> Iterator[str]:
    final = solution.final
    yield _run(final.code, final.observation)
    if final.call is not None:
        yield f"### Call\n\n{_run(final.call.code, final.call.observation)}"
    if check:
        yield f"### Check\n\n{_run(check, final.check_observation)}"
    for number, attempt in enumerate(solution.attempts, start=1):
        if attempt is not final:
            title = f"Attempt {number} of {len(solution.attempts)}"
            yield _fold(title, _run(attempt.code, attempt.failure))


def _run(code: str, observation: Observation | None) -> str:
    outputs = harmless_outputs(observation) if observation is not None else ()
    return "\n\n".join([as_code(code), *filter(None, map(_output, outputs))])


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    for kind, content in data.items():
        if kind == "text/html":
            # A blank line would end the HTML, and what comes after would be Markdown.
            return "<div>\n{}\n</div>".format(re.sub(r"[\r\n]\s*[\r\n]", "\n", content.strip()))
        if kind.startswith("image/"):
            return image(kind, content)
    text = output["text"].rstrip("\n")
    return as_code(text, "text") if text.strip() else ""


def _items(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(' '.join(text.split()))}" for text in texts)


def _fold(title: str, text: str) -> str:
    """A collapsible section. The title is our own text and not escaped."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"
