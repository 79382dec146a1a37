"""Blocking work with a deadline: what comes in time, what comes too late, and who waits for it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from exploracoder.methods.toolcoder import within

LATE = """
import asyncio, threading
from exploracoder.cli.console import run_async
from exploracoder.methods.toolcoder import within

async def work():
    try:
        await within(0.1, threading.Event().wait)
    except TimeoutError:
        print("gone on without it")

run_async(work())
"""


async def test_what_comes_in_time_is_given_as_it_is() -> None:
    assert await within(60, lambda: threading.current_thread().daemon) is True


async def test_what_the_work_raises_is_raised() -> None:
    def fail() -> int:
        raise KeyError("leaf")

    with pytest.raises(KeyError, match="leaf"):
        await within(60, fail)


@pytest.mark.parametrize("fails", [False, True])
async def test_what_comes_too_late_goes_nowhere(fails: bool) -> None:
    release, threads = threading.Event(), list[threading.Thread]()

    def work() -> None:
        threads.append(threading.current_thread())
        release.wait(60)
        if fails:
            raise ValueError("late")

    with pytest.raises(TimeoutError):
        await within(0.05, work)
    release.set()
    await asyncio.to_thread(threads[0].join, 60)

    assert not threads[0].is_alive()


def test_what_comes_when_nobody_listens_any_more_goes_nowhere() -> None:
    release, threads = threading.Event(), list[threading.Thread]()

    def work() -> None:
        threads.append(threading.current_thread())
        release.wait(60)

    async def leave() -> None:
        with pytest.raises(TimeoutError):
            await within(0.05, work)

    asyncio.run(leave())
    release.set()
    threads[0].join(60)

    assert not threads[0].is_alive()


async def test_who_is_cancelled_does_not_wait_for_the_work() -> None:
    release = threading.Event()
    waiting = asyncio.ensure_future(within(60, lambda: release.wait(60)))
    await asyncio.sleep(0.05)
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    release.set()


def test_a_process_ends_without_the_work_that_it_left_behind() -> None:
    path = os.pathsep.join(filter(None, sys.path))
    process = subprocess.run(
        [sys.executable, "-c", LATE],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (process.returncode, process.stdout, process.stderr) == (0, "gone on without it\n", "")


STUCK = """
import asyncio, threading
from exploracoder.cli.console import run_async

async def work():
    print("begun", flush=True)
    await asyncio.to_thread(threading.Event().wait)

run_async(work())
"""


def test_a_second_interrupt_ends_what_a_thread_holds_up() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", STUCK]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.stderr.readline() == "Stopping; press Ctrl-C again to end at once.\n"
        time.sleep(0.1)
        assert process.poll() is None, "one signal right after the other is a supervisor's"
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)

        assert process.returncode == 130
