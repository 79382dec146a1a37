"""How soon something can be seen: the time until the first cell of an exploration has run.

Run: ``python -m exploracoder_bench.first_cell [--rounds 3]``

A model writes the six cells of `six_steps` and the solution, which passes its check, in one reply,
at 30 tokens a second of four characters each; so fast a hosted model is, or a small one on a good
processor. What it writes is read as it comes, piece by piece at that pace; ``--whole`` has a server
that sends no streams, whose reply comes when all of it is written. What the model takes to read is
left out. The time begins with the exploration's work, after its kernel is there, and ends with its
solution. Times are medians.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exploracoder.api import explore_sync
from exploracoder.events import Event
from exploracoder.methods import DEFAULT
from exploracoder.testing import (
    PIECE_CHARS,
    Delay,
    Outcome,
    RecordedRequest,
    ScriptedModelServer,
)
from exploracoder.workspace import Options

from exploracoder_bench import runs, six_steps
from exploracoder_bench.markdown_table import markdown

_TOKENS_PER_SECOND = 30
_TOKEN_CHARS = 4


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of an exploration's work: until its first cell has run, and until its solution."""

    method: str
    first_cell: float
    whole: float

    @property
    def share(self) -> float:
        """The share of the whole time until the first cell has run."""
        return self.first_cell / self.whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table."""
    options = _parser().parse_args(arguments)
    pace = options.tokens_per_second * _TOKEN_CHARS
    times = measure(options.rounds, pace, is_whole=options.whole)
    head = ("method", "s to the first cell", "s in all", "share")
    print(markdown(head, [_row(times)]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--rounds", type=int, default=3, metavar="N", help="explorations; default: %(default)s")
    add(
        "--tokens-per-second",
        type=float,
        default=_TOKENS_PER_SECOND,
        metavar="N",
        help="that the model writes; default: %(default)s",
    )
    add("--whole", action="store_true", help="the reply comes whole, and not in pieces")
    return parser


def measure(rounds: int, chars_per_second: float, *, is_whole: bool) -> list[Times]:
    """The times of ``rounds`` explorations, with a model that writes at the given pace.

    With ``is_whole`` its server does not stream. Raises RuntimeError when an exploration fails.
    """
    failure = runs.warm_index(six_steps.problem(sys.executable))
    if failure:
        raise RuntimeError(f"The index could not be made: {failure}")

    def reply(request: RecordedRequest) -> Outcome:
        text = written_at_once()
        return text if request.is_stream else Delay(len(text) / chars_per_second, text)

    pause = PIECE_CHARS / chars_per_second
    with ScriptedModelServer(reply, refuse_stream=is_whole, piece_pause_s=pause) as server:
        return [_explored(server, seed) for seed in range(rounds)]


def _explored(server: ScriptedModelServer, seed: int) -> Times:
    seconds: list[float] = []

    def note(event: Event) -> None:
        if not seconds and any(step.status == "done" for step in event.exploration.steps):
            seconds.append(event.exploration.seconds_total)

    problem = six_steps.problem(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        exploration = explore_sync(
            problem.task,
            libraries=problem.libraries,
            context=problem.context,
            check=problem.check,
            model=server.model,
            output=Path(folder) / runs.NOTEBOOK,
            on_event=note,
            # What a measurement writes is no example of the user's.
            options=Options(
                base_url=server.base_url, method=DEFAULT, seed=seed, settings={"memory": False}
            ),
        )
    if exploration.status != "solved" or not seconds:
        raise RuntimeError(
            f"The exploration came to nothing: {exploration.status}. {exploration.reason}"
        )
    return Times(DEFAULT, seconds[0], exploration.seconds_total)


def written_at_once() -> str:
    """What the model writes: a cell for each step, and the solution."""
    parts = [
        (f"{number}. {step.goal}", step.candidates[0])
        for number, step in enumerate(six_steps.steps(), 1)
    ]
    parts.append(("Solution", six_steps.SOLUTION.strip()))
    return "\n".join(f"### {goal}\n```python\n{code}\n```" for goal, code in parts)


def _row(times: Sequence[Times]) -> tuple[str, str, str, str]:
    first = statistics.median(one.first_cell for one in times)
    whole = statistics.median(one.whole for one in times)
    share = statistics.median(one.share for one in times)
    return times[0].method, f"{first:.1f}", f"{whole:.1f}", f"{share:.0%}"


if __name__ == "__main__":
    sys.exit(main())
