"""Whether an exploration was made here, and what one from elsewhere would run and read.

What is saved here is signed with a secret of the user's, as Jupyter signs notebooks: nothing in a
file can claim to be signed. An unsigned exploration runs only after the user has seen what it
would do.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder.engine.reading import effects
from exploracoder.errors import UntrustedError
from exploracoder.state import Exploration, State

if TYPE_CHECKING:
    from nbformat.sign import NotebookNotary

_log = logging.getLogger("exploracoder.trust")

# All that going on with an exploration may run, read or start. Its results are not included:
# outputs are shown, but never trusted.
_SIGNED: Any = {
    "task": True,
    "settings": True,
    "method": True,
    "choice": True,
    "python": True,
    "brought": {"variables"},
    "steps": {
        "__all__": {
            "subtask": True,
            "status": True,
            "chosen": True,
            "candidates": {"__all__": {"id", "code"}},
        }
    },
    "written": {"solution", "calls"},
}


class Preview(State):
    """What would run and what it could read, shown before asking whether it may.

    ``code`` is all code that would run, in its order, in ``cells`` different pieces; ``check`` is
    among it. ``reads`` are folders and files that it could read, ``variables`` those of a running
    kernel that would be copied, ``warning`` says what the code visibly does. ``digest`` covers
    everything else: whoever agrees sends it back, and agrees to exactly that.
    """

    cells: int
    code: str
    check: bool
    libraries: tuple[str, ...]
    python: str
    reads: tuple[str, ...]
    sandbox: str
    variables: tuple[str, ...]
    warning: str
    digest: str = ""


def sign(exploration: Exploration) -> None:
    """Sign it as the user's own. If the signature cannot be stored, they are asked later."""
    with contextlib.suppress(OSError, sqlite3.Error), _notary() as notary:
        notary.sign(_signed(exploration))


def is_own(exploration: Exploration) -> bool:
    """Whether this user saved it or agreed to it on this machine, and it is unchanged since."""
    with contextlib.suppress(OSError, sqlite3.Error), _notary() as notary:
        return bool(notary.check_signature(_signed(exploration)))
    return False


def check(
    exploration: Exploration,
    name: str,
    *,
    python: str,
    sandbox: str,
    reads: Sequence[str | Path] = (),
    agreed_digest: str | bool = False,
) -> None:
    """Let an exploration through if it is the user's own, or if they agree now, which signs it.

    Args:
        exploration: As loaded, before any part of it is used.
        name: What to call it in a message.
        python: The interpreter that its code would run in.
        sandbox: The level that its code would run at.
        reads: What its code could read besides its libraries.
        agreed_digest: The digest of the preview that was agreed to, or True to accept any.

    Raises:
        UntrustedError: It is neither; the error carries the preview to show.
    """
    if is_own(exploration):
        return
    current_preview = preview(exploration, python=python, sandbox=sandbox, reads=reads)
    if agreed_digest is not True and agreed_digest != current_preview.digest:
        raise UntrustedError(name, current_preview)
    sign(exploration)


def preview(
    exploration: Exploration, *, python: str, sandbox: str, reads: Sequence[str | Path] = ()
) -> Preview:
    """What an exploration would run and read."""
    task, titles = exploration.task, dict[str, str]()
    for title, text in _pieces(exploration):
        titles.setdefault(text, title)
    code = "\n\n".join(f"# {title}\n{text}" for text, title in titles.items())
    folders = [*reads, *(one for one in task.libraries if not one.replace(".", "").isidentifier())]
    folders += [task.target.root] if task.target is not None else []
    draft = Preview(
        cells=len(titles),
        code=code,
        check=bool(task.check),
        libraries=task.libraries,
        python=python,
        reads=tuple(dict.fromkeys(map(str, folders))),
        sandbox=sandbox,
        variables=tuple(one.name for one in exploration.brought.variables),
        warning=effects.in_words(effects.effects(code)),
    )
    digest = hashlib.sha256(draft.model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()
    return draft.model_copy(update={"digest": digest})


def about(preview: Preview) -> dict[str, str]:
    """What a preview says besides the code, by label."""
    facts = {
        "pieces of code": str(preview.cells),
        "check": "yes" if preview.check else "none",
        "libraries": ", ".join(preview.libraries),
        "Python": preview.python,
        "could read": ", ".join(preview.reads) or "nothing more",
        "sandbox": preview.sandbox,
        "copies of your kernel's variables": ", ".join(preview.variables),
    }
    return {name: value for name, value in facts.items() if value}


def in_words(preview: Preview) -> str:
    """A preview for a terminal, the code last."""
    lines = [f"  {name}: {value}" for name, value in about(preview).items()]
    lines += [f"  {preview.warning}"] if preview.warning else []
    code = (f"  | {line}" for line in preview.code.splitlines())
    return "\n".join(("It would run:", *lines, "", *code))


def _pieces(exploration: Exploration) -> Iterator[tuple[str, str]]:
    """The code that may run, in order.

    A chosen candidate runs even if its step is still open. The others run only where a check
    decides between them, or if somebody accepts them.
    """
    task, written = exploration.task, exploration.written
    if task.context:
        yield "context", task.context
    for step in exploration.steps:
        goal = " ".join(step.subtask.goal.split())
        if step.status == "skipped":
            continue
        if step.candidate is not None:
            yield goal, step.candidate.code
        if task.check:
            others = (one for one in step.candidates if one is not step.candidate)
            yield from ((f"{goal}: another way", one.code) for one in others)
    if task.stub:
        yield "the beginning of the solution", task.stub
    if written.solution:
        yield "solution as written", written.solution
    if written.calls:
        yield "calls of the solution", written.calls
    if exploration.solution is not None:
        final = exploration.solution.final
        yield "solution", final.code
        if final.call is not None:
            yield "calls of the solution", final.call.code
    if task.check:
        yield "check", task.check


def _signed(exploration: Exploration) -> Any:
    """What the notary signs, in the form of a notebook."""
    from nbformat import NotebookNode

    # So fields that a later version adds change nothing at their defaults.
    content = exploration.model_dump(mode="json", include=_SIGNED, exclude_defaults=True)
    # Web search is never taken from a file, so it does not count either.
    content.get("settings", {}).pop("web_search", None)
    if exploration.solution is not None:
        # Which attempt counts depends on results, which are not signed.
        final = exploration.solution.final
        content["solution"] = [final.code, final.call.code if final.call is not None else ""]
    # As one text: the notary joins its parts without marking where each ends.
    text = json.dumps(content, sort_keys=True)
    return NotebookNode(nbformat=4, metadata={"exploracoder": text})


@contextlib.contextmanager
def _notary() -> Iterator[NotebookNotary]:
    from jupyter_core.paths import jupyter_data_dir
    from nbformat.sign import NotebookNotary

    folder = Path(jupyter_data_dir()) / "exploracoder" / "trust"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # It holds the user's secret, whoever made the folder.
    folder.chmod(0o700)
    notary = NotebookNotary(data_dir=str(folder), log=_log)
    try:
        yield notary
    finally:
        notary.store.close()
