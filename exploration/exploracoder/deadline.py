"""Blocking work that has a deadline, in a thread that nobody waits for once it is late."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

ResultT = TypeVar("ResultT")


async def within(seconds: float, work: Callable[[], ResultT]) -> ResultT:
    """What ``work`` gives, which blocks; where it takes longer it is left behind.

    Unlike those of `asyncio.to_thread`, whose threads are joined when the loop or the interpreter
    ends, it keeps no process from ending.

    Raises:
        TimeoutError: It did not end within ``seconds``. What it gives or raises later is dropped.
    """
    loop = asyncio.get_running_loop()
    given: asyncio.Future[ResultT] = loop.create_future()

    def finish(give: Callable[..., None], what: object) -> None:
        if not given.done():
            give(what)

    def run() -> None:
        give: Callable[..., None] = given.set_result
        what: object
        try:
            what = work()
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            give, what = given.set_exception, error
        with contextlib.suppress(RuntimeError):  # The loop is closed already.
            loop.call_soon_threadsafe(finish, give, what)

    threading.Thread(target=run, name="exploracoder-deadline", daemon=True).start()
    try:
        await asyncio.wait({given}, timeout=seconds)
        if not given.done():
            raise TimeoutError
        return given.result()
    finally:
        given.cancel()
