"""Explorations from Python: run one to the end in one call, or steer it in a session.

```python
done = await explore("Name the strong leaves", libraries=["tealeaf"], output="tea.ipynb")
print(done.solution.final.code)
```
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    aclosing,
    asynccontextmanager,
    nullcontext,
)
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from exploracoder import commands as c
from exploracoder import prepare
from exploracoder.background import run_sync
from exploracoder.errors import BudgetError, InputError, NoCodeError, SetupError
from exploracoder.events import Progress
from exploracoder.live_exploration import Feed, LiveExploration, OnEvent
from exploracoder.models.capabilities import UNKNOWN
from exploracoder.models.chat import ChatModel
from exploracoder.models.lazy_model import LazyModel
from exploracoder.session import Session
from exploracoder.state import Exploration, Target
from exploracoder.tasks import make_task
from exploracoder.user_variables import AnySource
from exploracoder.workspace import Options, Workspace, check_trust, in_thread, open_workspace

Code = str | Path
GivenT = ParamSpec("GivenT")
ResultT = TypeVar("ResultT")


def new_exploration(
    task: str,
    *,
    libraries: Sequence[str] | str,
    context: Code = "",
    check: Code = "",
    entry_point: str | None = None,
    target: Target | None = None,
    model: str | ChatModel | None = None,
    options: Options | None = None,
) -> Exploration:
    """Create an exploration without starting it; see `explore` for the arguments.

    ``target`` says where in a repository to write a class. Raises InputError if an argument cannot
    be used.
    """
    options = options or Options()
    names_or_paths = [libraries] if isinstance(libraries, str) else libraries
    new_task = make_task(
        task,
        libraries=[prepare.absolute_target(one) for one in names_or_paths],
        context=_code(context, "context"),
        check=_code(check, "check"),
        entry_point=entry_point,
        target=target,
    )
    named_model = model if isinstance(model, str) else None
    is_given = model is not None and named_model is None
    return prepare.make_exploration(
        new_task,
        profile=options.profile,
        settings=options.settings,
        is_embedded=getattr(model, "is_embedded", False)
        if is_given
        else prepare.wants_embedded(named_model, options.base_url),
        capabilities=UNKNOWN
        if is_given
        else prepare.known_capabilities(named_model, options.base_url, options.reasoning_effort),
        method=options.method,
        seed=options.seed,
    )


@asynccontextmanager
async def open_exploration(
    task: str | Exploration,
    *,
    libraries: Sequence[str] | str = (),
    context: Code = "",
    check: Code = "",
    entry_point: str | None = None,
    model: str | ChatModel | None = None,
    mode: c.Mode = "review",
    output: str | Path | None = None,
    on_event: OnEvent | None = None,
    source: AnySource | None = None,
    options: Options | None = None,
) -> AsyncIterator[LiveExploration]:
    """Open an exploration to steer: a new one starts at once, a loaded one waits for a command.

    In ``review`` mode it stops at the plan and at each subtask whose candidates have run. Leaving
    the block stops work in progress, saves, and shuts down the scratch kernel.

    ``task`` is what you want, or an exploration from `load` to continue; ``output`` is then the
    file it came from, and its libraries, context and check are not given again. ``mode`` says
    whether to ask you, and a command can change it later. Everything else is as in `explore`.

    Raises:
        InputError: An argument cannot be used.
        UntrustedError: The exploration was not made here, and ``options`` do not say to trust it.
        SetupError: The model, sandbox or scratch kernel is not available, or a step that ran
            before fails now.
    """
    options = options or Options()
    if isinstance(task, str):
        exploration = new_exploration(
            task,
            libraries=libraries,
            context=context,
            check=check,
            entry_point=entry_point,
            model=model,
            options=options,
        )
        place: AbstractContextManager[Path] = prepare.new_output(output)
    elif output is None or libraries or context or check:
        raise InputError(
            "An exploration that goes on has its libraries, context and check already, and needs"
            " the notebook it came from as output."
        )
    else:
        place = nullcontext(prepare.full(output))
        check_trust(task, str(output), options)
        limits = {name: options.settings.get(name) for name in ("max_seconds", "max_tokens")}
        exploration = prepare.going_on(task, **limits)
    feed, is_new = Feed(on_event), isinstance(task, str)
    with place as target:
        manager = _open(exploration, target, model, options, mode, feed, source, is_new=is_new)
        async with (
            manager as (space, chat),
            space.session(LiveExploration, chat, mode=mode, feed=feed, output=target) as live,
        ):
            if is_new:
                await live.do(c.GoOn())
            yield live


async def explore(
    task: str,
    *,
    libraries: Sequence[str] | str,
    context: Code = "",
    check: Code = "",
    entry_point: str | None = None,
    model: str | ChatModel | None = None,
    mode: c.Mode = "auto",
    output: str | Path | None = None,
    on_event: OnEvent | None = None,
    source: AnySource | None = None,
    options: Options | None = None,
) -> Exploration:
    """Explore a task with a library that the model does not know, and write a verified solution.

    Args:
        task: What you want, in a sentence or two. It may hold the head of a function to complete.
        libraries: Names of installed libraries, or folders and .py files.
        context: Code that runs before anything else, or the path of a file with it.
        check: Code that runs after the solution and raises if that is wrong, or its path.
        entry_point: The function that the solution must define.
        model: A model's name, or an open model; ``embedded`` is the one that comes with
            ExploraCoder. Defaults to the one the environment names, or else, if no endpoint is
            configured, the embedded one.
        mode: ``auto`` works to the end, as the command line does; ``review`` stops at the plan, and
            `open_exploration` goes on from there.
        output: The notebook to write; an existing file is moved aside. Defaults to
            ``exploration.ipynb`` in the current folder, numbered if that exists.
        on_event: Called with each event, in the work's own thread and loop; must not raise.
        source: Where to copy variables from: `exploracoder.user_variables.Source` for a running
            kernel.
        options: Everything else.

    Returns:
        The exploration; its ``status`` is the outcome, and ``solution`` may be None.

    Raises:
        InputError: An argument cannot be used.
        SetupError: The model, sandbox or scratch kernel is not available or failed; the notebook
            has what was found until then.
    """
    arguments: dict[str, Any] = {
        "libraries": libraries,
        "context": context,
        "check": check,
        "entry_point": entry_point,
        "model": model,
        "options": options,
    }
    if mode == "review":
        manager = open_exploration(
            task, **arguments, output=output, on_event=on_event, source=source
        )
        async with manager as live:
            await live.idle()
            if live.progress.error and not isinstance(live.failure, BudgetError | NoCodeError):
                raise SetupError(live.progress.error)
            return live.exploration
    exploration = new_exploration(task, **arguments)
    feed = Feed(on_event)

    def tell(state: Exploration, message: str) -> None:
        feed(state, Progress(activity="working", message=message))

    def tell_place(message: str) -> None:
        tell(session.exploration, message)

    with prepare.new_output(output) as target:
        opened = _open(
            exploration, target, model, options or Options(), mode, feed, source, is_new=True
        )
        async with (
            opened as (space, chat),
            space.session(Session, chat, listener=tell, on_wait=tell_place) as session,
        ):
            return await session.run()


def _like(
    function: Callable[GivenT, Coroutine[Any, Any, ResultT]],
) -> Callable[[Callable[..., ResultT]], Callable[GivenT, ResultT]]:
    """Give a function the signature of another one."""
    return wraps(function, assigned=())


@_like(explore)
def explore_sync(task: str, **arguments: Any) -> Exploration:
    """`explore` for synchronous code, including a notebook's cell; see there.

    Ctrl-C stops the work after saving, and raises KeyboardInterrupt.
    """
    return run_sync(explore(task, **arguments))


@asynccontextmanager
async def _open(
    exploration: Exploration,
    output: Path,
    model: str | ChatModel | None,
    options: Options,
    mode: c.Mode,
    feed: Feed,
    source: AnySource | None,
    *,
    is_new: bool,
) -> AsyncIterator[tuple[Workspace, ChatModel]]:
    loop = asyncio.get_running_loop()

    def tell(message: str) -> None:
        feed(exploration, Progress(activity="working", mode=mode, message=message))

    def tell_from_thread(message: str) -> None:
        loop.call_soon_threadsafe(tell, message)

    manager = open_workspace(
        exploration, output, options, is_new=is_new, source=source, tell=tell_from_thread
    )
    with ExitStack() as stack:
        space = await in_thread(stack.enter_context, manager)
        tell("Starting the model")
        chat = LazyModel("", lambda: options.open_model(model))
        async with aclosing(chat):
            await chat.open()
            tell("Starting the scratch kernel")
            yield space, chat


def _code(code: Code, option: str) -> str:
    return prepare.read_code(code, option) if isinstance(code, Path) else code
