"""Snippets that mean harm, in random order against one session, again and again.

Run: ``python -m exploracoder_bench.hostile [--mechanism landlock] [--level network] [--rounds N]``

A round runs every snippet once, each in a branch of its own, ``--jobs`` of them at a time. After
each round the session has to be as it was: its other branches hold what they held, no process is
left, no file of the user's has changed, no server of this machine was reached. The table says how
often it was not, and what the session cost its owner.

``--apart`` gives each snippet a session of its own, and says which of them did harm. ``--user``,
for the superuser, runs all of it as an ordinary user.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from exploracoder_kernel.errors import SidecarError

from exploracoder_bench import hostile_snippets, ordinary_user
from exploracoder_bench.hostile_session import HostileSession, Outcome
from exploracoder_bench.hostile_snippets import Level, Mechanism, Snippet, Strategy, Variant
from exploracoder_bench.markdown import markdown
from exploracoder_bench.process_use import Use, own_use


@dataclass(slots=True)
class Tally:
    """What happened so far."""

    runs: int = 0
    statuses: collections.Counter[str] = field(default_factory=collections.Counter)
    differences: list[str] = field(default_factory=list)
    harm: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count a run."""
        self.runs += 1
        seen = outcome.observation
        self.statuses[seen.status if seen else "none"] += 1
        for text in outcome.differences:
            self.differences.append(f"{outcome.snippet}: {text}")
            _say(self.differences[-1])

    def add_harm(self, text: str) -> None:
        """Note what came to harm."""
        self.harm.append(text)
        _say(text)


async def play(
    snippets: Sequence[Snippet], variant: Variant, *, rounds: int, seed: int, jobs: int
) -> tuple[Tally, Use, Use]:
    """Run all rounds; the answer has what the owner used after the first round and at the end."""
    order = random.Random(seed)
    tally = Tally()
    session = HostileSession(variant, jobs)
    async with session:
        first = last = own_use()
        for number in range(1, rounds + 1):
            started = time.monotonic()
            shuffled = order.sample(snippets, len(snippets))
            await _round(session, shuffled, jobs, tally)
            for text in await session.harm():
                tally.add_harm(f"round {number}: {text}")
            last = own_use()
            first = last if number == 1 else first
            _tell(number, time.monotonic() - started, tally, last)
    for name in session.left_behind:
        tally.add_harm(f"left behind: {name}")
    return tally, first, last


async def play_apart(snippets: Sequence[Snippet], variant: Variant) -> Tally:
    """Run each snippet in a session of its own, so that harm is known by the snippet."""
    tally = Tally()
    for snippet in snippets:
        session = HostileSession(variant)
        async with session:
            outcome = await session.attack(snippet)
            tally.add(outcome)
            harm = await session.harm()
        _say(f"{snippet}: {outcome.seconds:.1f} s")
        for text in [*harm, *(f"left behind: {name}" for name in session.left_behind)]:
            tally.add_harm(f"{snippet}: {text}")
    return tally


async def _round(
    session: HostileSession, snippets: Sequence[Snippet], jobs: int, tally: Tally
) -> None:
    waiting = collections.deque(snippets)

    async def work() -> None:
        while waiting:
            tally.add(await session.attack(waiting.popleft()))

    await asyncio.gather(*(work() for _ in range(jobs)))


def _tell(number: int, seconds: float, tally: Tally, use: Use) -> None:
    _say(
        f"round {number}: {seconds:.0f} s, {tally.runs} runs, {len(tally.differences)} not as "
        f"expected, {len(tally.harm)} harms, owner {use.resident_mb:.0f} MB, {use.descriptors} "
        "descriptors"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def table(variant: Variant, tally: Tally, first: Use | None = None, last: Use | None = None) -> str:
    """The figures."""
    outcomes = ", ".join(f"{count} {status}" for status, count in tally.statuses.most_common())
    rows = [
        ("sandbox", str(variant)),
        ("snippets run", str(tally.runs)),
        ("observations", outcomes),
        ("not as expected", str(len(tally.differences))),
        ("harm done", str(len(tally.harm))),
    ]
    if first is not None and last is not None:
        rows += _owner_rows(first, last)
    return markdown(("what", "figure"), rows)


def _owner_rows(first: Use, last: Use) -> list[tuple[str, str]]:
    return [
        ("owner's memory after the first round", f"{first.resident_mb:.1f} MB"),
        ("owner's memory at the end", f"{last.resident_mb:.1f} MB"),
        ("owner's descriptors after the first round", str(first.descriptors)),
        ("owner's descriptors at the end", str(last.descriptors)),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 when anything came to harm."""
    options = _parser().parse_args(arguments)
    if options.user:
        return ordinary_user.run("exploracoder_bench.hostile", arguments or sys.argv[1:])
    variant = Variant(options.mechanism, options.level, options.strategy)
    known = hostile_snippets.read(options.snippets, variant)
    snippets = [snippet for snippet in known if options.only in str(snippet)]
    if not snippets:
        print(f"No snippets in {options.snippets}. Check --snippets and --only.", file=sys.stderr)
        return 2
    try:
        tally, figures = _play(options, snippets, variant)
    except SidecarError as error:
        print(error, file=sys.stderr)
        return 2
    print(figures)
    return 1 if tally.harm or tally.differences else 0


def _play(
    options: argparse.Namespace, snippets: Sequence[Snippet], variant: Variant
) -> tuple[Tally, str]:
    if options.apart:
        tally = asyncio.run(play_apart(snippets, variant))
        return tally, table(variant, tally)
    playing = play(snippets, variant, rounds=options.rounds, seed=options.seed, jobs=options.jobs)
    tally, first, last = asyncio.run(playing)
    return tally, table(variant, tally, first, last)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mechanism", choices=get_args(Mechanism), default="bubblewrap")
    parser.add_argument("--level", choices=get_args(Level), default="strict")
    parser.add_argument("--strategy", choices=get_args(Strategy), default="fork")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="snippets whose name has this in it")
    parser.add_argument("--apart", action="store_true", help="a session for each snippet")
    parser.add_argument("--user", action="store_true", help="as an ordinary user")
    parser.add_argument("--snippets", type=Path, default=hostile_snippets.SNIPPETS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
