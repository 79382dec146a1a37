"""What whoever starts a kernel wants of it comes by a variable, where no argument can."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.kernel import start_options
from jupyter_client.manager import AsyncKernelManager

VARIABLE = "KERNEL_EXPLORACODER"


def environment(**wanted: Any) -> dict[str, str]:
    return {VARIABLE: json.dumps(wanted)}


async def test_a_kernel_is_started_as_the_variable_says(tmp_path: Path, open_console: Any) -> None:
    folder, beside = tmp_path / "task", tmp_path / "beside"
    for path in (folder, beside):
        path.mkdir()
    (folder / "data.csv").write_text("a,b")
    (beside / "more.txt").write_text("more")
    manager = AsyncKernelManager(kernel_name="exploracoder")
    env = environment(strategy="replay", cwd=str(folder), readable=[str(beside)])

    async with open_console(manager, env=env) as console:
        listed = await console.branch("list")
        told = await console.run(
            f"import os\nprint(open('data.csv').read(), open({str(beside / 'more.txt')!r}).read(),"
            f" {VARIABLE!r} in os.environ, 'PATH' in os.environ)"
        )

    assert listed["strategy"] == "replay"
    assert told.stream() == "a,b more False True\n"


async def test_arguments_come_before_the_variable(tmp_path: Path, open_console: Any) -> None:
    manager = AsyncKernelManager(kernel_name="exploracoder")
    env = environment(strategy="fork", sandbox="off")

    async with open_console(manager, env=env, strategy="replay") as console:
        listed = await console.branch("list")

    assert (listed["strategy"], listed["sandbox"]["level"]) == ("replay", "off")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "Invalid JSON"),
        ("[]", "it: "),
        ('{"sandbox": "none"}', "sandbox: "),
        ('{"colour": "red"}', "colour: "),
        ('{"python": ""}', "python: "),
        ('{"memory_budget": -1}', "memory_budget: "),
        ('{"memory_budget": "12"}', "memory_budget: "),
        ('{"readable": "/"}', "readable: "),
    ],
)
def test_a_variable_that_says_no_such_thing_ends_the_kernel_with_a_sentence(
    text: str, says: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "exploracoder_kernel.kernel"],
        env={**os.environ, VARIABLE: text},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 2
    assert f"The variable {VARIABLE} can't be used" in done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_the_variable_is_taken_out_of_the_environment() -> None:
    surroundings = {**environment(sandbox="network"), "PATH": "/bin"}

    wanted = start_options.options_from(surroundings, {"sandbox": None, "strategy": "replay"})

    assert (wanted.sandbox, wanted.strategy) == ("network", "replay")
    assert surroundings == {"PATH": "/bin"}
