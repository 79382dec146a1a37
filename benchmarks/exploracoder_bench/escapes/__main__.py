"""Tries each way out that is known, and says what harm came of it.

Run: ``python -m exploracoder_bench.escapes [--only NAME] [--mechanism MECHANISM] [--strategy …]``

Everything that may come to harm lies in a folder for temporary files that is made for it. Exit
code 1 when there was any harm.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from exploracoder_kernel.errors import SidecarError

from exploracoder_bench import ordinary_user
from exploracoder_bench.escapes import from_files, from_leftovers, from_snippets
from exploracoder_bench.hostile_snippets import Level, Mechanism, Strategy, Variant
from exploracoder_bench.markdown import markdown

Try = Callable[[Variant, Path, Path], list[str]]


@dataclass(frozen=True, slots=True)
class Row:
    """What came of an escape in a variant; ``harm`` is empty where nothing did."""

    escape: str
    sandbox: str
    strategy: str
    seconds: float
    harm: tuple[str, ...]


def _inside(play: Callable[[Variant, Path], object]) -> Try:
    return lambda variant, folder, _cache: asyncio.run(play(variant, folder))  # type: ignore[arg-type]


ESCAPES: dict[str, Try] = {
    "renames": _inside(from_snippets.renames),
    "temporary-modules": from_files.temporary_modules,
    "reaching": _inside(from_snippets.snippets("reaching")),
    "checks": from_leftovers.checks,
    "siblings": _inside(from_snippets.snippets("leftovers")),
    "startup-files": from_files.startup_files,
    "ipc": _inside(from_snippets.snippets("ipc")),
    "trees": from_files.trees,
    "quotas": _inside(from_snippets.snippets("quotas")),
    "attributes": _inside(from_snippets.snippets("attributes")),
    "time-limit": _inside(from_snippets.time_limit),
}

_WITHOUT_SANDBOX = ("trees",)  # nothing runs, so that they are tried once


def main(arguments: Sequence[str] | None = None) -> int:
    """Try them; 1 when there was harm."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(words)
    if options.user:
        return ordinary_user.run("exploracoder_bench.escapes", words)
    with tempfile.TemporaryDirectory(prefix="escapes-") as name:
        try:
            rows = list(_play(options, Path(name)))
        except SidecarError as error:
            print(error, file=sys.stderr)
            return 2
    if options.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        print(_table(rows))
    return 1 if any(row.harm for row in rows) else 0


def _play(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    names = options.only or list(ESCAPES)
    mechanisms = [options.mechanism] if options.mechanism else get_args(Mechanism)
    strategies = [options.strategy] if options.strategy else get_args(Strategy)
    for number, (name, mechanism, strategy) in enumerate(
        itertools.product(names, mechanisms, strategies)
    ):
        if name in _WITHOUT_SANDBOX and number % (len(mechanisms) * len(strategies)):
            continue
        variant = Variant(mechanism, options.level, strategy)
        started = time.monotonic()
        harm = ESCAPES[name](variant, folder / str(number), folder / "cache")
        who = "" if os.geteuid() == 0 else " as a user"
        row = Row(
            escape=name,
            sandbox=f"{variant.level} ({mechanism}){who}",
            strategy=strategy,
            seconds=time.monotonic() - started,
            harm=tuple(harm),
        )
        print(f"{name}, {variant}: {'; '.join(harm) or 'none'}", file=sys.stderr, flush=True)
        yield row


def _table(rows: Sequence[Row]) -> str:
    cells = [
        (
            row.escape,
            row.sandbox,
            row.strategy,
            f"{row.seconds:.0f} s",
            "; ".join(row.harm) or "none",
        )
        for row in rows
    ]
    return markdown(("escape", "sandbox", "strategy", "time", "harm"), cells)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=ESCAPES, help="may be repeated")
    parser.add_argument("--mechanism", choices=get_args(Mechanism), help="default: each")
    parser.add_argument("--level", choices=get_args(Level), default="strict")
    parser.add_argument("--strategy", choices=get_args(Strategy), help="default: each")
    parser.add_argument("--user", action="store_true", help="as an ordinary user")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
