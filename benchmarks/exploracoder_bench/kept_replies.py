"""A run's replies as one text file, so that it can be kept with the results and drawn again.

    python -m exploracoder_bench.kept_replies pack OUT FILE      from OUT/replies to FILE
    python -m exploracoder_bench.kept_replies unpack FILE OUT    and back, for `bench run --out OUT`

A line is a reply: the folder that the run keeps it in, its key, which is the SHA-256 of everything
that was asked, and the reply. With the same code, problems and endpoint `bench run` asks the same
and is answered from there, so that whoever has no access to a model sees the same run.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from exploracoder.models.cache import ReplyCache
from exploracoder.models.chat import Reply
from pydantic import BaseModel, ConfigDict, ValidationError

_FILE = "replies.sqlite"


class KeptReply(BaseModel):
    """A line of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str
    key: str
    reply: Reply


def pack(run: Path) -> Iterator[KeptReply]:
    """The replies that a run has kept, in the order of their folders and keys."""
    root = run / "replies"
    for file in sorted(root.rglob(_FILE)):
        with closing(sqlite3.connect(file)) as connection:
            rows = connection.execute("SELECT key, reply FROM replies ORDER BY key").fetchall()
        folder = file.parent.relative_to(root).as_posix()
        for key, reply in rows:
            yield KeptReply(folder=folder, key=key, reply=Reply.model_validate_json(reply))


def unpack(lines: Iterator[str], run: Path) -> int:
    """Put replies where a run into that folder looks for them; returns how many.

    Raises ValueError where a line is none, or names a folder outside the run.
    """
    root, count = (run / "replies").resolve(), 0
    for line in lines:
        try:
            kept = KeptReply.model_validate_json(line)
        except ValidationError as error:
            raise ValueError(f"Line {count + 1} holds no reply.") from error
        folder = (root / kept.folder).resolve()
        if not folder.is_relative_to(root):
            raise ValueError(f"Line {count + 1} leads out of the run: {kept.folder!r}.")
        ReplyCache(folder, is_free=False).put(kept.key, kept.reply)
        count += 1
    return count


def main(arguments: list[str]) -> int:
    """Pack or unpack, as the arguments say; returns the exit code."""
    match arguments:
        case ["pack", run, file]:
            lines = [json.dumps(one.model_dump(mode="json")) for one in pack(Path(run))]
            Path(file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            print(f"{len(lines)} replies")
        case ["unpack", file, run]:
            try:
                with Path(file).open(encoding="utf-8") as lines_in:
                    print(f"{unpack(iter(lines_in), Path(run))} replies")
            except (OSError, ValueError) as error:
                print(f"{file}: {error}", file=sys.stderr)
                return 2
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
