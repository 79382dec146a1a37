"""Build a task from the user's input: words, code, and where to write a class."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from exploracoder.engine.reading import stub
from exploracoder.engine.running.placing import target_text
from exploracoder.errors import InputError
from exploracoder.prepare import full
from exploracoder.state import Target, Task

MAX_TASK_CHARS = 10_000


def make_task(
    text: str,
    *,
    libraries: Sequence[str],
    context: str = "",
    check: str = "",
    entry_point: str | None = None,
    target: Target | None = None,
) -> Task:
    """Build a task, separating its unfinished code; with a ``target`` it asks for a class.

    Raises InputError if it is empty or too long, or the target cannot be used.
    """
    # Text from a terminal or a file that is not UTF-8 may contain lone surrogates.
    text = text.strip().encode("utf-8", "replace").decode()
    if not text:
        raise InputError("The task is empty. Say in a sentence or two what you want done.")
    if len(text) > MAX_TASK_CHARS:
        raise InputError(
            f"The task has {len(text)} characters; at most {MAX_TASK_CHARS} fit. Put data and code"
            " into a file and give it with --context."
        )
    if not libraries and target is None:
        raise InputError("Name at least one library with --library.")
    if entry_point is not None and not entry_point.isidentifier():
        raise InputError(f"--entry-point must be a name in Python, not {entry_point!r}.")
    if target is None:
        split = stub.in_context(context)
        context, stub_code = split.text, split.stub or stub.in_task(text, entry_point)
        entry_point = entry_point or stub.function_name(stub_code)
    elif entry_point is None:
        raise InputError("Name the class that is to be written: --entry-point NAME.")
    else:
        target_text(target)
        stub_code = ""
    return Task(
        text=text,
        libraries=tuple(libraries),
        context=context.strip("\n"),
        check=check,
        entry_point=entry_point,
        target=target,
        stub=stub_code,
    )


def make_target(repository: Path | None, file: str | None) -> Target | None:
    """Where to write a class, or None if no repository was given.

    Raises InputError if only one of the two is given, or ``file`` is not inside the repository.
    """
    if repository is None and file is None:
        return None
    if repository is None or file is None:
        raise InputError("--repository and --file go together: the folder, and the file in it.")
    root = Path(os.path.realpath(full(repository)))
    if not os.path.isdir(root):
        raise InputError(f"--repository: there is no folder {root}.")
    path = Path(os.path.realpath(root / file))
    if not path.is_relative_to(root) or path.suffix != ".py" or os.path.isdir(path):
        raise InputError(f"--file: {file} is not a .py file inside {root}.")
    return Target(root=str(root), file=path.relative_to(root).as_posix())
