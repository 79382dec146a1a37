"""The solution as a script: the context, the code, and the check as comments.

The script does not run the check: that is what `replay` is for, and indenting the check into a
block would change its multi-line strings.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

from exploracoder import document
from exploracoder.engine.reading.syntax import parsed, without_future
from exploracoder.errors import CommandError
from exploracoder.state import Exploration
from exploracoder.texts import on_a_line

# Magics that only say how a notebook shows things, as `ipython2python` writes them.
_SHOWING = re.compile(
    r"^get_ipython\(\)\.run_line_magic\('(matplotlib|config)', '(.*)'\)$", re.MULTILINE
)
_CHECK_WORDS = {
    "passed": "The check, which it passed:",
    "failed": "The check, which it does not pass:",
    "none": "The check:",
}


def script(exploration: Exploration) -> str:
    """The result of the exploration as a Python script.

    Raises CommandError when there is no solution yet, or when it cannot be a script.
    """
    if exploration.solution is None:
        raise CommandError("There is no solution yet. Let the exploration go on first.")
    task, final = exploration.task, exploration.solution.final
    parts = [without_future(_plain_python(part)) for part in (task.context, final.code)]
    if any(_awaits(code) for code, _ in parts):
        raise CommandError(
            "The code awaits something outside of functions, which a script cannot do. Open the"
            " exploration's notebook instead."
        )
    features = dict.fromkeys(feature for _, features in parts for feature in features)
    future = f"from __future__ import {', '.join(features)}" if features else ""
    body = [code.strip("\n") for code, _ in parts]
    heading = [*_heading(exploration)]
    if any("get_ipython()" in code for code in body):
        heading.append("# It uses magics: run it with `ipython` instead of `python`.")
    check = [_CHECK_WORDS[final.checks], *task.check.splitlines()] if task.check else []
    sections = ["\n".join(heading), future, *body, _comment(check)]
    return "\n\n".join(section for section in sections if section.strip()) + "\n"


def _heading(exploration: Exploration) -> Iterator[str]:
    # Python looks for an encoding in the first two lines, so keep untrusted text out of them.
    yield "# Made by ExploraCoder: the solution of a task, after the task's context."
    yield "#"
    yield _comment(exploration.task.text.strip().splitlines())
    yield "#"
    yield _comment(document.plain_verification(exploration).splitlines())
    if document.warning(exploration):
        yield _comment(document.warning(exploration).splitlines())
    if exploration.libraries:
        yield _comment([f"Libraries: {document.libraries(exploration)}"])
    names = [one.name for one in exploration.brought.variables]
    if names:
        yield _comment([f"Starts with variables of a running kernel: {', '.join(names)}"])


def _comment(lines: list[str]) -> str:
    # ``splitlines`` splits at every line end that Python knows; control characters become blanks.
    single = (part for line in lines for part in line.splitlines() or [""])
    return "\n".join(f"# {on_a_line(line)}".rstrip() for line in single)


def _plain_python(code: str) -> str:
    """Convert code of cells to code of a file: magics become calls, or comments if no script
    needs them."""
    if parsed(code) is not None:
        return code
    from nbconvert.filters import ipython2python

    return _SHOWING.sub(r"# %\1 \2  (only for notebooks)", str(ipython2python(code)))


def _awaits(code: str) -> bool:
    """Whether code awaits something outside of functions."""
    try:
        whole = compile(code, "script", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(whole.co_flags & inspect.CO_COROUTINE)
