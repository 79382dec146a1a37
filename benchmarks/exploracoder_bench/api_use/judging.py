"""The judge: runs candidates in the sidecar and compares what they did with what was asked.

Each candidate runs in a process of its own, a fork below the sidecar; the judge only reads the
record that it leaves, and never runs or evaluates any of it. What the problem expects stays here.
"""

from __future__ import annotations

import ast
import asyncio
import json
import secrets
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError, SetupError
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import Observation
from exploracoder_kernel.run_limits import Limits
from exploracoder_kernel.sandbox import choose
from exploracoder_kernel.sidecar import Sidecar

from exploracoder_bench.api_use.expressions import Outer
from exploracoder_bench.api_use.flow import Flow
from exploracoder_bench.api_use.grading import Verdict, refused, verdict_on
from exploracoder_bench.api_use.invented_libraries import Shelf

_SOURCES = Path(__file__).parents[2]
_PREPARE = f"""
import sys
sys.path.insert(0, {str(_SOURCES)!r})
from exploracoder_bench.api_use.inside.runner import record_all as _record_all
"""
# For one program. The run of a batch has time for all of them, plus a grace period.
SECONDS = 5.0
_GRACE_S = 20.0
_BATCH = 50
_LIMITS = Limits(max_output_chars=64_000_000, memory_bytes=1 << 30, processes=8)


@dataclass(frozen=True, slots=True)
class Question:
    """A candidate: the program, the requested function in it, and that function's arguments."""

    shelf: Shelf
    program: str
    function: str
    outer: tuple[Outer, ...]


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges candidates; ``open_judge`` makes one.

    Args:
        sidecar: Where they run.
        seconds: The time limit of each.
    """

    sidecar: Sidecar
    seconds: float = SECONDS

    async def judge(
        self, question: Question, expected: Flow, *, is_strict: bool = False
    ) -> Verdict:
        """Whether the candidate's data flow is the expected one.

        Args:
            question: The candidate.
            expected: What the problem asks for.
            is_strict: Whether calls that do not reach the result make it wrong.
        """
        return (await self.judge_all([question], expected, is_strict=is_strict))[0]

    async def judge_all(
        self, questions: Sequence[Question], expected: Flow, *, is_strict: bool = False
    ) -> list[Verdict]:
        """Judge many candidates that share their libraries and the expected flow.

        Each batch gets a fork of the sidecar. Within it, each candidate runs in a further process
        of its own, which is killed when its time is up.
        """
        records = []
        for start in range(0, len(questions), _BATCH):
            records += await self._records(questions[start : start + _BATCH])
        return [verdict_on(record, expected, is_strict=is_strict) for record in records]

    async def flow_of(self, question: Question) -> Flow:
        """The data flow of a reference program. Raises InputError when it has none."""
        verdict = verdict_on((await self._records([question]))[0], None)
        if verdict.actual is None:
            raise InputError(f"The reference cannot be used: it {verdict.why}.")
        if any(node.kind == "other" for node in verdict.actual.nodes):
            raise InputError("The reference returns something that is no data flow.")
        return verdict.actual

    async def _records(self, questions: Sequence[Question]) -> list[Any]:
        """A record of each. If one brings down its whole batch, each is run again alone."""
        seal = secrets.token_hex(16)
        wall = self.seconds * len(questions) + _GRACE_S
        limits = _LIMITS.model_copy(update={"wall_seconds": wall})
        payload = _payload(questions) | {"seal": seal, "seconds": self.seconds}
        observation = await self._run(json.dumps(payload), limits)
        records = _unsealed(observation, seal)
        if len(records) == len(questions):
            return records
        if len(questions) == 1:
            return [refused(_ending(observation))]
        return [record for one in questions for record in await self._records([one])]

    async def _run(self, payload: str, limits: Limits) -> Observation:
        branch = await self.sidecar.fork(self.sidecar.root)
        try:
            return await self.sidecar.run(branch, f"_record_all({payload!r})", limits)
        finally:
            await self.sidecar.drop(branch)


@asynccontextmanager
async def open_judge(*, seconds: float = SECONDS) -> AsyncIterator[Judge]:
    """Start the sidecar that candidates run in.

    Raises:
        SetupError: It cannot be started, or no sandbox is available.
    """
    try:
        chosen_sandbox = await asyncio.to_thread(
            choose, "auto", python=sys.executable, cwd=_SOURCES, inputs=[_SOURCES]
        )
        sidecar = Sidecar(python=sys.executable, cwd=_SOURCES, launcher=chosen_sandbox.launcher)
        await sidecar.__aenter__()
    except SidecarError as error:
        raise SetupError(str(error)) from error
    try:
        observation = await sidecar.run(sidecar.root, _PREPARE)
        if not observation.ran:
            raise SetupError(f"The judge could not be prepared: {_ending(observation)}.")
        yield Judge(sidecar, seconds)
    finally:
        await sidecar.__aexit__(None, None, None)


def _payload(questions: Sequence[Question]) -> dict[str, Any]:
    shelf = questions[0].shelf
    libraries = [
        {
            "id": one.id,
            "module": one.name,
            "style": one.style,
            "functions": {
                function.name: [
                    [argument.name for argument in function.arguments],
                    shelf.plain(function.returns),
                ]
                for function in one.functions
            },
        }
        for one in shelf
    ]
    programs = [
        {"program": one.program, "function": one.function, "outer": _outer(one.outer, shelf)}
        for one in questions
    ]
    return {"libraries": libraries, "questions": programs}


def _outer(outer: Iterable[Outer], shelf: Shelf) -> list[list[str]]:
    return [[one.name, shelf.plain(one.type)] for one in outer]


def _unsealed(observation: Observation, seal: str) -> list[Any]:
    """The records, if our own function produced them."""
    if not observation.ran or observation.result is None:
        return []
    try:
        answer = json.loads(ast.literal_eval(observation.result))
        return list(answer["records"]) if answer["seal"] == seal else []
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        return []


def _ending(observation: Observation) -> str:
    """How a run without a record ended."""
    if observation.status in ("timeout", "interrupted"):
        return f"did not come to its end within {observation.seconds:.0f} s"
    if observation.limits_hit:
        return f"went over a limit: {', '.join(observation.limits_hit)}"
    if observation.error is not None:
        return f"ended with {observation.error.ename}: {observation.error.evalue[:200]}"
    return f"gave no record that could be believed; its run ended as {observation.status}"
