"""A run's replies as one text file, kept with its results, so that anybody can run it again.

The first line says whose replies they are; each other line is a reply: the folder in which the run
kept it, its key, which is the SHA-256 of everything that was asked, and the reply. The same code
asks the same and is answered from this file, without any model.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from exploracoder import prompts
from exploracoder.errors import InputError
from exploracoder.models.chat import Reply
from exploracoder.models.reply_cache import ReplyCache
from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder_bench.plan import Plan, read_plan

_FILE = "replies.sqlite"
_FOLDER = "replies"


class ReplySource(BaseModel):
    """Whose replies they are: the model, what tells it from others, and the address it had.

    ``commit`` and the ``prompts``, as fingerprints, are those of that run; both are empty if an
    earlier version kept the replies.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    identity: str
    endpoint: str
    commit: str = ""
    prompts: dict[str, str] = {}


class KeptReply(BaseModel):
    """A reply; ``folder`` is where the run kept it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str
    key: str
    reply: Reply


def keep(run: Path, file: Path) -> int:
    """Write the replies of a run to a file; return how many.

    Raises InputError when it is not a run, or one of the embedded model, which everybody has.
    """
    plan = read_plan(run)
    if plan is None:
        raise InputError(f"{run} is no folder of 'bench run'.")
    lines = [_about(plan, run).model_dump_json()]
    lines += [one.model_dump_json() for one in _replies(run / _FOLDER)]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(lines) - 1


def about(file: Path) -> ReplySource:
    """Whose replies a file holds.

    Raises InputError when it is not such a file, or the prompts have changed since.
    """
    try:
        origin = ReplySource.model_validate_json(next(_lines(file), ""))
    except ValidationError as error:
        raise InputError(
            f"{file} does not say whose replies it holds. Make it with 'exploracoder bench"
            " keep-replies'."
        ) from error
    now = prompts.fingerprints()
    other = [name for name, was in origin.prompts.items() if now.get(name) != was]
    if other:
        raise InputError(
            f"The replies in {file} are to other prompts: {', '.join(other)} changed since. Use the"
            f" code of then ({origin.commit or 'unknown'}), or ask a model."
        )
    return origin


def unpack(file: Path, run: Path) -> int:
    """Put replies where a run into that folder looks for them; return how many.

    Raises InputError when a line is not a reply, or names a folder outside the run.
    """
    root, count = (run / _FOLDER).resolve(), 0
    lines = _lines(file)
    next(lines, None)
    for count, line in enumerate(lines, start=1):
        try:
            record = KeptReply.model_validate_json(line)
        except ValidationError as error:
            raise InputError(f"{file}, line {count + 1}, holds no reply.") from error
        folder = (root / record.folder).resolve()
        if not folder.is_relative_to(root):
            raise InputError(f"{file}, line {count + 1}, leads out of the run: {record.folder!r}.")
        ReplyCache(folder, is_free=False).put(record.key, record.reply)
    return count


def _about(plan: Plan, run: Path) -> ReplySource:
    provenance = next(iter(plan.provenance.values()), None)
    if provenance is None or not provenance.endpoint:
        raise InputError(
            f"{run} is a run of the embedded model, or does not say of which endpoint: its replies"
            " can be of no use elsewhere."
        )
    return ReplySource(
        model=plan.model,
        identity=plan.identity,
        endpoint=provenance.endpoint,
        commit=provenance.code.commit,
        prompts=provenance.prompts,
    )


def _replies(root: Path) -> Iterable[KeptReply]:
    """The replies of a run, sorted by folder and key."""
    for file in sorted(root.rglob(_FILE)):
        with closing(sqlite3.connect(file)) as connection:
            rows = connection.execute("SELECT key, reply FROM replies ORDER BY key").fetchall()
        folder = file.parent.relative_to(root).as_posix()
        for key, reply in rows:
            yield KeptReply(folder=folder, key=key, reply=Reply.model_validate_json(reply))


def _lines(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8") as lines:
            yield from lines
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read as kept replies: {error}") from error
