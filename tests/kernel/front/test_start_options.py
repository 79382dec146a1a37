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


def environment(**options: Any) -> dict[str, str]:
    return {VARIABLE: json.dumps(options)}


async def test_a_kernel_is_started_as_the_variable_says(tmp_path: Path, open_console: Any) -> None:
    folder, beside = tmp_path / "task", tmp_path / "beside"
    for path in (folder, beside):
        path.mkdir()
    (folder / "data.csv").write_text("a,b")
    (beside / "more.txt").write_text("more")
    manager = AsyncKernelManager(kernel_name="exploracoder")
    env = environment(strategy="replay", cwd=str(folder), readable=[str(beside)])

    async with open_console(manager, env=env) as console:
        listing = await console.branch("list")
        response = await console.run(
            f"import os\nprint(open('data.csv').read(), open({str(beside / 'more.txt')!r}).read(),"
            f" {VARIABLE!r} in os.environ, 'PATH' in os.environ)"
        )

    assert listing["strategy"] == "replay"
    assert response.stream() == "a,b more False True\n"


async def test_arguments_come_before_the_variable(tmp_path: Path, open_console: Any) -> None:
    manager = AsyncKernelManager(kernel_name="exploracoder")
    env = environment(strategy="fork", sandbox="off")

    async with open_console(manager, env=env, strategy="replay") as console:
        listing = await console.branch("list")

    assert (listing["strategy"], listing["sandbox"]["level"]) == ("replay", "off")


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
    process = subprocess.run(
        [sys.executable, "-m", "exploracoder_kernel.kernel"],
        env={**os.environ, VARIABLE: text},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert process.returncode == 2
    assert f"The variable {VARIABLE} can't be used" in process.stderr
    assert says in process.stderr
    assert "Traceback" not in process.stderr


def test_the_variable_is_taken_out_of_the_environment() -> None:
    surroundings = {**environment(sandbox="network"), "PATH": "/bin"}

    options = start_options.options_from(surroundings, {"sandbox": None, "strategy": "replay"})

    assert (options.sandbox, options.strategy) == ("network", "replay")
    assert surroundings == {"PATH": "/bin"}
