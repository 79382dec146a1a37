"""Live sessions on the usual task, with a scripted model."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exploracoder import commands as c
from exploracoder import confined_interpreter, prepare
from exploracoder.commands import Mode
from exploracoder.errors import SetupError
from exploracoder.events import Progress, change_between
from exploracoder.live_session import LiveSession
from exploracoder.opening import Opening, local_scratch
from exploracoder.settings import make_settings
from exploracoder.state import Exploration, Step
from exploracoder.tasks import make_task
from exploracoder.testing import ScriptedModelServer
from exploracoder_kernel.sandbox import choose
from waiting import wait_until

from .scripted import CHECK, CONTEXT, TASK, kinds_asked


@dataclass
class FollowedSession:
    """A session, and all that a surface was told of it."""

    session: LiveSession
    saved: list[Exploration]
    reports: list[tuple[Exploration, Progress]]
    mirror: dict[str, Any] = field(default_factory=dict)
    # Why nothing can be saved, while it says something.
    save_trouble: str = ""

    async def do(self, *commands: Any) -> None:
        """Give commands, each when the one before is done."""
        for command in commands:
            await self.session.do(command)
            await self.session.idle()

    def step(self, number: int) -> Step:
        """A step by its place in the plan, counting from 1."""
        return self.session.exploration.steps[number - 1]

    @property
    def statuses(self) -> list[str]:
        """The steps' statuses in order."""
        return [step.status for step in self.session.exploration.steps]

    @property
    def error(self) -> str:
        """Why the last command stopped."""
        return self.session.progress.error


def replayed_from_changes(surface: FollowedSession) -> Exploration:
    """The exploration as a surface that only got changes has it."""
    first = surface.reports[0][0]
    whole = first.model_dump(mode="json")
    before = first
    for after, _ in surface.reports[1:]:
        apply(whole, change_between(before, after).model_dump(mode="json"))
        before = after
    return Exploration.model_validate(whole)


def apply(whole: dict[str, Any], change: dict[str, Any]) -> None:
    """What a surface does with a change."""
    whole |= change["fields"]
    steps = {step["subtask"]["id"]: step for step in [*whole["steps"], *change["steps"]]}
    order = change["order"] or [step["subtask"]["id"] for step in whole["steps"]]
    whole["steps"] = [steps[id_] for id_ in order]


def new_exploration(check: str = CHECK, **settings: Any) -> Exploration:
    """The usual task, not begun."""
    task = make_task(
        TASK,
        libraries=[prepare.absolute_target("tealeaf/")],
        context=CONTEXT,
        check=check,
        entry_point="strong_names",
    )
    overrides = {"candidates": 1, "rerank": "none"} | settings
    return Exploration(task=task, settings=make_settings("standard", **overrides))


@asynccontextmanager
async def live_session(
    server: ScriptedModelServer,
    *,
    mode: Mode = "review",
    exploration: Exploration | None = None,
    **settings: Any,
) -> AsyncIterator[FollowedSession]:
    """A live session in this process; the current folder has the library."""
    exploration = exploration or new_exploration(**settings)
    updates: list[tuple[Exploration, Progress]] = []

    async def save(state: Exploration) -> None:
        if surface.save_trouble:
            raise SetupError(surface.save_trouble)
        surface.saved.append(state)

    here = Path.cwd()
    sandboxing = choose("auto", python=sys.executable, cwd=here)
    scratch = local_scratch(sys.executable, here, sandbox=sandboxing)
    with prepare.open_index() as index:
        interpreter = confined_interpreter.find_interpreter(sys.executable)
        libraries = prepare.index_libraries(index, exploration.task.libraries, interpreter)
        exploration = exploration.model_copy(update={"libraries": libraries})
        async with prepare.open_model(server.model, server.base_url) as model:
            session = LiveSession(
                exploration,
                model=model,
                index=index,
                opening=Opening(sys.executable, scratch),
                save=save,
                mode=mode,
                on_progress=lambda state, progress: updates.append((state, progress)),
            )
            surface = FollowedSession(session, [], updates)
            async with session:
                yield surface


def ids(surface: FollowedSession) -> list[str]:
    return [step.subtask.id for step in surface.session.exploration.steps]


def goals(surface: FollowedSession) -> list[str]:
    return [step.subtask.goal for step in surface.session.exploration.steps]


def chosen_codes(exploration: Exploration) -> list[str]:
    return [link.candidate.code for link in exploration.trace]


async def accept_all(surface: FollowedSession, count: int = 3) -> None:
    """Plan, and accept what is proposed for the first steps."""
    await surface.do(c.GoOn(), c.GoOn())
    for number in range(1, count + 1):
        await surface.do(c.Accept(subtask=surface.step(number).subtask.id))


def wait_until_asked(server: ScriptedModelServer, kind: str, count: int) -> None:
    """Wait until a kind of question has been asked so often."""
    wait_until(lambda: kinds_asked(server).count(kind) >= count)
