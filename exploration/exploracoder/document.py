"""An exploration as a notebook, and back (the metadata is under ``exploracoder``).

The cells are for people and for plain Jupyter; the metadata holds all that is needed to go on.
"""

from __future__ import annotations

import contextlib
import html
import logging
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from exploracoder_kernel import notebook
from exploracoder_kernel.observation import Observation
from exploracoder_retrieval.apidoc import ApiDoc
from pydantic import ValidationError

from exploracoder import merging, trust
from exploracoder.engine.reading import effects
from exploracoder.errors import InputError, SetupError, raised_as
from exploracoder.folders import aside_of
from exploracoder.prompts import as_code
from exploracoder.settings import Settings
from exploracoder.state import SCHEMA_VERSION, Attempt, Exploration, Solution, Step, Task, ended_as
from exploracoder.texts import on_a_line

_log = logging.getLogger("exploracoder.document")

METADATA_KEY = merging.KEY
REVISION_KEY = "revision"
_TITLE_CHARS = 80
_MOST_LEVELS = 100
_WEB_ADDRESS = re.compile(r"https?://[^\s()<>\[\]\\\"]+")


def save(path: Path, exploration: Exploration) -> None:
    """Write the notebook atomically, and sign it as the user's own work.

    What a person has put into the file since it was last written stays: their own cells, and what
    they typed into ours. A file that cannot be read or kept is moved aside. Raises SetupError when
    it cannot be written.
    """
    from nbformat import ValidationError as InvalidNotebook

    content = to_notebook(exploration)
    try:
        try:
            notebook.write(path, _with_own(content, path))
        except InvalidNotebook:
            # Of a newer format than ours, for example.
            path.rename(aside_of(path))
            notebook.write(path, content)
        trust.sign(exploration)
    except OSError as error:
        raise SetupError(
            f"{path} cannot be written: {error.strerror or error}. What was saved there before is"
            " as it was. Make room or choose another place with --output, then resume."
        ) from error


def _with_own(content: Any, path: Path) -> Any:
    """The notebook, with a person's part of the one at ``path`` if there is one."""
    from nbformat import from_dict

    # An empty file only reserves the name.
    if not path.exists() or not path.stat().st_size:
        return content
    try:
        there = notebook.read(path)
    except notebook.NotebookError:
        path.rename(aside_of(path))
        return content
    before: dict[str, str] | None = None
    with contextlib.suppress(InputError):
        metadata = there.metadata.get(METADATA_KEY)
        written = cells(from_metadata(metadata, str(path), is_read_again=True))
        before = {cell["id"]: cell["source"] for cell in written}
    own = merging.merged(content["cells"], merging.with_ids(there["cells"]), before)
    metadata = {**there.metadata, **content.metadata, **merging.chosen_kernel(there.metadata)}
    return from_dict({**content, "cells": own, "metadata": metadata})


def load(path: str | Path) -> Exploration:
    """Read an exploration from its notebook.

    Raises:
        InputError: There is no such file, it is not an exploration, it is damaged, or a newer
            ExploraCoder wrote it.
    """
    path = Path(path)
    with raised_as(InputError, OSError):
        is_there = path.exists()
    if not is_there:
        raise InputError(f"There is no file {path}.")
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{path} is empty: nothing was saved in it yet.")
    with raised_as(InputError, notebook.NotebookError):
        metadata = notebook.read(path).metadata.get(METADATA_KEY)
    return from_metadata(metadata, str(path))


def from_metadata(metadata: object, name: str, *, is_read_again: bool = False) -> Exploration:
    """Read an exploration from a notebook's metadata; messages call the notebook ``name``.

    Web search is turned off: only the user can agree to it, not a file from somewhere.

    Settings unknown to this version are dropped with a logged warning, which goes to standard error
    unless logging is configured; not when the file ``is_read_again``. Raises InputError that says
    what is wrong.
    """
    if not isinstance(metadata, dict):
        raise InputError(f"{name} is a notebook, but not an exploration: nothing of ours is in it.")
    try:
        _check_values(metadata)
        _check_version(metadata.get("schema_version"), name)
        exploration, unknown = _validated(metadata)
    except _DamageError as error:
        raise InputError(f"The exploration in {name} is damaged {error}.") from error
    if unknown and not is_read_again:
        _log.warning(
            "%s was made with settings that this ExploraCoder does not have, and goes on without"
            " them: %s.",
            name,
            _brief(unknown, 200),
        )
    at_home = exploration.settings.model_copy(update={"web_search": "off"})
    return exploration.model_copy(update={"settings": at_home})


def _check_version(version: object, name: str) -> None:
    beginning = f"{name} was saved with version {_brief(str(version))} of the format"
    # In Python a bool is an int.
    if not isinstance(version, int) or isinstance(version, bool) or version > SCHEMA_VERSION:
        raise InputError(
            f"{beginning}; this ExploraCoder reads up to version {SCHEMA_VERSION}. Upgrade it."
        )
    if version < SCHEMA_VERSION:
        raise InputError(f"{beginning}, which no release has written. Explore its task again.")


def _validated(metadata: dict[str, Any]) -> tuple[Exploration, str]:
    """The exploration, and the names of settings that this version does not have."""
    # The revision counts the states of a notebook; it is not part of the exploration.
    own = {key: value for key, value in metadata.items() if key != REVISION_KEY}
    settings, unknown = own.get("settings"), ""
    if isinstance(settings, dict):
        unknown = ", ".join(one for one in settings if one not in Settings.model_fields)
        own["settings"] = {one: settings[one] for one in settings if one in Settings.model_fields}
    try:
        exploration = Exploration.model_validate(own, context={"is_from_file": True})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        reason = fault["msg"].removeprefix("Value error, ")
        raise _DamageError(fault["loc"], reason) from error
    return exploration, unknown


class _DamageError(Exception):
    """What is wrong, as the end of a sentence: ``at PLACE: REASON``."""

    def __init__(self, place: Iterable[object], reason: str) -> None:
        path = ".".join(_brief(str(part)) for part in place) or "its top"
        super().__init__(f"at {path}: {_brief(reason, 200)}")


def _check_values(value: object, *place: str) -> None:
    """Raise _DamageError if values are nested too deeply or cannot be encoded as text.

    A notebook may be truncated, merged by hand or malicious. Unchecked, that would end in some
    other exception, or in a file that cannot be written again.
    """
    if len(place) > _MOST_LEVELS:
        raise _DamageError(place[:4], f"more than {_MOST_LEVELS} levels are nested")
    if isinstance(value, str):
        _check_text(value, place)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            _check_text(str(key), place)
            _check_values(part, *place, str(key))
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            _check_values(part, *place, str(number))


def _check_text(text: str, place: Iterable[str]) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _DamageError(place, "half a character is no text") from None


def _brief(text: str, most: int = 60) -> str:
    """Shorten untrusted text and make it printable, for a message."""
    clean_text = on_a_line(text)
    return clean_text if len(clean_text) <= most else f"{clean_text[: most - 1]}…"


def to_notebook(exploration: Exploration, revision: int | None = None) -> Any:
    """The exploration as a notebook that runs in plain Jupyter from top to bottom."""
    metadata = exploration.model_dump(mode="json")
    if revision is not None:
        metadata[REVISION_KEY] = revision
    return notebook.notebook(cells(exploration), {METADATA_KEY: metadata})


def cells(exploration: Exploration) -> list[Any]:
    """The notebook's cells, each with a stable id, and its role in the metadata."""
    return list(_cells(exploration))


def _cells(exploration: Exploration) -> Iterator[Any]:
    task = exploration.task
    yield notebook.markdown_cell("task", task_text(exploration), _role("task"))
    if task.context:
        yield _code_cell("context", task.context, _role("context"))
    for number, step in enumerate(exploration.steps, start=1):
        yield notebook.markdown_cell(
            f"{step.subtask.id}-goal", step_text(number, step), _role("goal", step.subtask.id)
        )
        if step.status != "skipped":
            yield _candidate_cell(number, step)
    if exploration.solution is not None:
        yield from _solution_cells(exploration, exploration.solution)
    if exploration.steps:
        yield notebook.markdown_cell("branches", picture(exploration), _role("branches"))


def _candidate_cell(number: int, step: Step) -> Any:
    """The chosen candidate, with its outputs if it has run.

    Without one the cell is empty, for users to fill and run with their own.
    """
    candidate, role = step.candidate, _role("candidate", step.subtask.id)
    if candidate is None or (candidate.observation is not None and not candidate.ran):
        return _code_cell(step.subtask.id, "", role)
    return _code_cell(step.subtask.id, candidate.code, role, candidate.observation, number)


def _code_cell(
    id_: str,
    code: str,
    role: dict[str, Any],
    observation: Observation | None = None,
    count: int | None = None,
) -> Any:
    """A code cell, with its outputs if it has run."""
    outputs, number = (observation.outputs, count) if observation is not None else ((), None)
    return notebook.code_cell(id_, code, outputs, execution_count=number, metadata=role)


def _solution_cells(exploration: Exploration, solution: Solution) -> Iterator[Any]:
    yield notebook.markdown_cell("solution-verdict", verdict_text(exploration), _role("verdict"))
    final, count = solution.final, len(exploration.steps) + 1
    if not final.is_good or exploration.task.target is not None:
        # Show a failed solution as text: a code cell would stop the notebook there. So would a
        # class that is only part of its file.
        yield notebook.markdown_cell("solution", as_code(final.code), _role("solution"))
        return
    yield _code_cell("solution", final.code, _role("solution"), final.observation, count)
    check, observation = exploration.task.check, final.check_observation
    if check and observation is not None:
        yield _code_cell("check", check, _role("check"), observation, count + 1)


def verdict_text(exploration: Exploration) -> str:
    """How the solution was verified, with what was looked up for it, its docs, and a warning."""
    if exploration.solution is None:
        return f"## Solution\n\n{escape_markdown(verification(exploration))}"
    final = exploration.solution.final
    parts = [f"## Solution\n\n{verification(exploration)}", *_searches_text(final)]
    if final.docs:
        parts.append("\nDocs: " + " · ".join(_doc_link(doc, False) for doc in final.docs))
    if warning(exploration):
        parts.append(f"\n**{escape_markdown(warning(exploration))}**")
    return "\n".join(parts)


def _searches_text(attempt: Attempt) -> Iterator[str]:
    """What the model looked up while writing, with the lines it was for."""
    if attempt.searches:
        yield "\nLooked up while it was written:\n"
    for search in attempt.searches:
        place = f"line {search.line}: " if search.line is not None else ""
        answer = search.answer or f"nothing. {search.note}"
        yield f"- {place}*{escape_markdown(search.query) or '…'}* → {escape_markdown(answer)}"


def verification(exploration: Exploration) -> str:
    """One sentence on whether the solution was verified, and by what."""
    if exploration.solution is None:
        return f"No solution yet. {exploration.reason}".strip()
    final = exploration.solution.final
    count = _count(exploration.solution) if exploration.method != "best-of-n" else ""
    if not final.observation.ran:
        return f"**Not solved**: the code does not run{count}: {_error_line(final.observation)}"
    if final.checks == "failed" and final.check_observation is not None:
        why = _error_line(final.check_observation)
        return f"**Not solved**: the code runs, the check fails{count}: {why}"
    if final.checks == "passed":
        return f"**Verified**: it ran in a fresh state and the check passed{count}."
    return (
        f"**Unverified**: it ran in a fresh state{count}{_called(final)}; no check was given, so"
        " nothing says that the result is right."
    )


def _count(solution: Solution) -> str:
    """Which of the attempts counts; best-of-n, which changes their order, does not say it."""
    number = next(n for n, one in enumerate(solution.attempts, 1) if one is solution.final)
    count = len(solution.attempts)
    return f" (attempt {number} of {count})" if count > 1 else ""


def plain_verification(exploration: Exploration) -> str:
    """The same without the verdict's bold markers, for text that is not Markdown."""
    return re.sub(r"^\*\*(.+?)\*\*", r"\1", verification(exploration))


def warning(exploration: Exploration) -> str:
    """What the solution does besides computing, which its users should know; empty if nothing."""
    if exploration.solution is None:
        return ""
    return effects.in_words(effects.effects(exploration.solution.final.code))


def libraries(exploration: Exploration) -> str:
    """The libraries with the versions that were explored."""
    return ", ".join(f"{one.name} {one.version}".strip() for one in exploration.libraries)


def cost(exploration: Exploration) -> str:
    """Calls, tokens and seconds, in a sentence."""
    usage = exploration.usage
    return (
        f"{usage.calls} model calls, {usage.prompt_tokens} prompt and {usage.completion_tokens}"
        f" completion tokens; {exploration.seconds_total:.0f} s ({usage.seconds:.0f} s model,"
        f" {exploration.seconds_execution:.1f} s running code)."
    )


def _called(final: Attempt) -> str:
    """The outcome of the example call."""
    if final.call is None:
        return "; what it defines was never called" if final.only_defines else ""
    call, failure = _inline(final.call.called), final.call.failure
    if failure:
        return f", but the call {call} failed: {_inline(failure[:300])}"
    return f", and the call {call} did, too"


def _error_line(observation: Observation) -> str:
    line = ended_as(observation)
    return _inline(line[:300]) if observation.error else line


def task_text(exploration: Exploration) -> str:
    """Title, task, and what it is explored with."""
    task = exploration.task
    title, text = title_of(task), task.text.strip()
    # Don't repeat a task that is already the title.
    lines = [] if text == title else escape_markdown(text.expandtabs(4)).splitlines()
    quote = "\n".join(f"> {line}".rstrip() for line in lines)
    about = (
        f"Explored with ExploraCoder · libraries: {escape_markdown(libraries(exploration))}"
        f" · model: {escape_markdown(exploration.model)}"
    )
    if task.target is not None:
        file = escape_markdown(task.target.file)
        about += f" · writes the class {_inline(task.entry_point or '')} into {file}"
    parts = [f"# {escape_markdown(title)}", quote, about, *_brought_text(exploration)]
    return "\n\n".join(part for part in parts if part)


def title_of(task: Task) -> str:
    """The task's first sentence, cut to size."""
    sentence = re.split(r"(?<=[.!?])\s", task.text.strip())[0]
    return textwrap.shorten(sentence, _TITLE_CHARS, placeholder=" …")


def _brought_text(exploration: Exploration) -> Iterator[str]:
    """The variables needed before the first cell; their values are not saved."""
    variables = exploration.brought.variables
    if variables:
        listing = ", ".join(
            f"{_inline(one.name)} ({escape_markdown(one.type)})" for one in variables
        )
        yield f"Starts with variables of a running kernel: {listing}"


def step_text(number: int, step: Step) -> str:
    """A subtask with its docs (the used ones in bold) and its outcome."""
    lines = [f"## {number}. {escape_markdown(' '.join(step.subtask.goal.split()))}"]
    docs = step.recommendation.kept
    used_paths = set(step.candidate.apis) if step.candidate else set()
    if docs:
        lines.append("Docs: " + " · ".join(_doc_link(doc, doc.path in used_paths) for doc in docs))
    if step.status == "failed":
        lines.append(f"*No candidate ran ({len(step.candidates)} tried); the chain went on.*")
    elif step.status == "skipped":
        lines.append("*Skipped.*")
    elif step.status == "review":
        lines.append("*Proposed; not accepted yet.*")
    return "\n\n".join(lines)


def _doc_link(doc: ApiDoc, is_used: bool) -> str:
    name = _inline(doc.path)
    if doc.url and _WEB_ADDRESS.fullmatch(doc.url):
        name = f"[{name}]({doc.url})"
    elif doc.file:
        # Installation paths differ between machines, so show only the end.
        place = "/".join(Path(doc.file).parts[-2:]) + (f":{doc.line}" if doc.line else "")
        name = f"{name} ({escape_markdown(place)})"
    return f"**{name}**" if is_used else name


def picture(exploration: Exploration) -> str:
    """The tree of branches, under a heading."""
    return f"## Branches\n\n```mermaid\n{flowchart(exploration)}\n```"


def flowchart(exploration: Exploration) -> str:
    """The tree of branches as a Mermaid flowchart, with the chosen chain drawn thick."""
    lines = ["flowchart TD", '  root(["context"])']
    here = "root"
    for number, step in enumerate(exploration.steps, start=1):
        for position, candidate in enumerate(step.candidates, start=1):
            if candidate.observation is None:
                continue
            node = f"s{number}c{position}"
            mark = "ran" if candidate.ran else "failed"
            label = f"{number}.{position} {candidate.origin}: {mark}"
            is_chosen = candidate.id == step.chosen
            lines.append(f'  {here} {"==>" if is_chosen else "-.->"} {node}["{label}"]')
        if step.candidate is not None and step.candidate.ran:
            position = [one.id for one in step.candidates].index(step.candidate.id) + 1
            here = f"s{number}c{position}"
    if exploration.solution is not None:
        lines.append(f'  root ==> solution(["solution: {exploration.solution.outcome}"])')
    return "\n".join(lines)


def _role(role: str, subtask: str | None = None) -> dict[str, Any]:
    return {METADATA_KEY: {"role": role} | ({"subtask": subtask} if subtask else {})}


def escape_markdown(text: str) -> str:
    """Escape text from users, models and docs, so that its Markdown and HTML have no effect."""
    text = _STEERING.sub("\N{REPLACEMENT CHARACTER}", text)
    escaped = "".join(
        part if _NAME.fullmatch(part) else _SPECIAL.sub(r"\\\1", html.escape(part, quote=False))
        for part in re.split(r"(`[A-Za-z_]\w*`)", text)
    )
    return _BLOCK.sub(r"\1\\\2", escaped)


# A name in backticks is left as it is: it cannot contain markup.
_NAME = re.compile(r"`[A-Za-z_]\w*`")
# Control characters, including bidirectional ones, which make text look like something else.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SPECIAL = re.compile(r"([\\`*_\[\]#$|~])")
# What makes a line the item of a list, a rule, or the line above it a heading.
_BLOCK = re.compile(
    r"^( {0,3}(?:\d+(?=[.)]))?)([-+=](?=[-=\s]|$)|(?<=\d)[.)](?=\s|$))", re.MULTILINE
)


def _inline(text: str) -> str:
    line = _STEERING.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return f"`{line.replace('`', chr(39))}`"
