"""A notebook that was not made here runs only after its user has seen what it would run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
from exploracoder import document, trust
from exploracoder.api import open_exploration
from exploracoder.engine.finishing import composing
from exploracoder.errors import UntrustedError
from exploracoder.state import Attempt, ExampleCall, Solution, Target, Task, Written
from exploracoder_kernel import notebook
from exploracoder_kernel.observation import ErrorReport, Observation

from .conftest import Command, Explorer, Serve
from .samples import exploration, printed


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this user's secret is; none of the tests before is known to it."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def foreign(own_library: Path, tmp_path: Path) -> Path:
    """A stranger's notebook that names a Python of theirs, which says when it is started."""
    python = own_library / "python"
    python.write_text(f"#!/bin/sh\ntouch '{own_library}/started'\nexec {sys.executable} \"$@\"\n")
    python.chmod(0o755)
    task = Task(text="Name.", libraries=(str(own_library / "tealeaf"),), context='text = "assam 5"')
    code = "import tealeaf\nprint(tealeaf.read_leaves(text)[0].name)"
    final = Attempt(code=code, observation=printed("assam\n"))
    sample = exploration(
        task=task, steps=(), solution=Solution(attempts=(final,)), python=str(python)
    )
    notebook.write(tmp_path / "foreign.ipynb", document.to_notebook(sample))
    return tmp_path / "foreign.ipynb"


@pytest.mark.parametrize("name", ["replay", "resume"])
def test_a_strangers_notebook_starts_nothing_unasked(
    name: str, foreign: Path, command: Command, own_library: Path
) -> None:
    before = foreign.read_bytes()

    result = command(name, foreign)

    assert result.code == 2
    assert "was not made here by you, so nothing of it was run" in " ".join(result.err.split())
    assert "--trust" in result.err
    assert not (own_library / "started").exists()
    assert foreign.read_bytes() == before


def test_what_was_trusted_once_is_not_asked_about_again(
    foreign: Path, command: Command, own_library: Path
) -> None:
    first = command("replay", foreign, "--trust")
    again = command("replay", foreign)

    assert (first.code, again.code) == (0, 0)
    assert (own_library / "started").exists()


def test_what_was_explored_here_is_ones_own(
    serve: Serve, explore: Explorer, command: Command
) -> None:
    explore(serve(), "--profile", "small", "--set", "first-tries=0")

    assert command("replay", explore.notebook).code == 0


def test_on_a_terminal_one_question_shows_what_would_run_and_read(
    foreign: Path, own_library: Path
) -> None:
    program = Path(sys.executable).with_name("exploracoder")
    words = ["replay", str(foreign), "--python", sys.executable]
    outputs = []
    for answer in ("n", "y"):
        child = pexpect.spawn(
            str(program), words, encoding="utf-8", timeout=60, dimensions=(50, 300)
        )
        child.expect("Run it")
        outputs.append(str(child.before))
        child.sendline(answer)
        child.expect(pexpect.EOF)
        child.close()
        outputs.append(f"{child.before}{child.exitstatus}")

    question, refusal, _, ran = outputs
    for part in (
        "pieces of code: 2",
        f"libraries: {own_library}/tealeaf",
        f"Python: {sys.executable}",
        str(foreign.parent),
        "sandbox: ",
        "check: none",
        "| print(tealeaf.read_leaves(text)[0].name)",
    ):
        assert part in question
    assert "was run" in refusal and refusal.endswith("2")
    assert "2 of 2 cells are as they were." in ran


CHANGES: dict[str, Any] = {
    "context": lambda made: {"task": made.task.model_copy(update={"context": "print(1)"})},
    "check": lambda made: {"task": made.task.model_copy(update={"check": "assert 1"})},
    "library": lambda made: {"task": made.task.model_copy(update={"libraries": ("/else",)})},
    "target": lambda made: {
        "task": made.task.model_copy(update={"target": Target(root="/", file="a.py")})
    },
    "python": lambda _: {"python": "/else"},
    "method": lambda _: {"method": "direct"},
    "setting": lambda made: {"settings": made.settings.model_copy(update={"run_seconds": 9.5})},
    "candidate": lambda made: {"steps": (_with_code(made.steps[0]), *made.steps[1:])},
    "chosen": lambda made: {"steps": (made.steps[0].model_copy(update={"status": "skipped"}),)},
    "solution": lambda _: {
        "solution": Solution(attempts=(Attempt(code="1", observation=printed("")),))
    },
    "call of the solution": lambda made: {"solution": _calling(made.solution, "import os")},
    "attempt that counts": lambda made: {
        "solution": Solution(attempts=tuple(_turned(one) for one in made.solution.attempts))
    },
    "written solution": lambda _: {"written": Written(solution="import os")},
    "written calls": lambda _: {"written": Written(calls="import os")},
}


def _calling(solution: Solution, code: str) -> Solution:
    call = ExampleCall(code=code, called=code, observation=printed(""))
    final = solution.final.model_copy(update={"call": call})
    return solution.model_copy(update={"attempts": (*solution.attempts[:-1], final)})


def _turned(attempt: Attempt) -> Attempt:
    checks = "failed" if attempt.checks == "passed" else "passed"
    return attempt.model_copy(update={"checks": checks})


def _with_code(step: Any) -> Any:
    candidate = step.candidates[0].model_copy(update={"code": "import os"})
    return step.model_copy(update={"candidates": (candidate, *step.candidates[1:])})


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_would_run_otherwise_is_asked_about(name: str) -> None:
    sample = exploration()
    trust.sign(sample)

    variant = sample.model_copy(update=CHANGES[name](sample))

    assert trust.is_own(sample)
    assert not trust.is_own(variant)


def test_everything_that_resuming_may_run_is_shown() -> None:
    made = exploration()
    read, count, divide = made.steps
    sample = exploration(
        task=made.task.model_copy(update={"stub": "names ="}),
        steps=(read, count.model_copy(update={"status": "pending"}), divide),
        written=Written(solution="names = written()", calls="names.sort()"),
        solution=_calling(made.solution, "names.clear()") if made.solution else None,
    )

    code = trust.preview(sample, python="/python", sandbox="strict").code

    assert read.candidates[0].code in code, "with a check, each candidate may be in the solution"
    assert count.candidates[0].code in code, "what is open and chosen runs next"
    assert "# the beginning of the solution\nnames =" in code
    for text in ("names = written()", "names.sort()", "names.clear()"):
        assert text in code


def test_without_a_check_only_what_is_chosen_is_shown() -> None:
    made = exploration()
    task = made.task.model_copy(update={"check": ""})

    code = trust.preview(made.model_copy(update={"task": task}), python="", sandbox="strict").code

    assert made.steps[0].candidates[1].code in code
    assert made.steps[0].candidates[0].code not in code
    assert made.steps[2].candidates[0].code not in code


@pytest.mark.parametrize("check", ["", "assert names"])
def test_what_steps_are_joined_from_is_shown(check: str) -> None:
    made = exploration()
    read, *others = made.steps
    failed = Observation(status="error", error=ErrorReport(ename="E", evalue=""))
    # Results are not signed: somebody may have changed them.
    candidates = [
        one.model_copy(
            update={"observation": failed if one.id == read.chosen else Observation(status="ok")}
        )
        for one in read.candidates
    ]
    task = made.task.model_copy(update={"check": check})
    steps = (read.model_copy(update={"candidates": tuple(candidates)}), *others)
    sample = made.model_copy(update={"task": task, "steps": steps})
    shown = trust.preview(sample, python="", sandbox="strict").code

    codes = [code for choices in composing._choices(sample) for code in choices]

    assert not [code for code in codes if code not in shown]
    assert (read.candidates[0].code in codes) == bool(check)


def test_text_that_moves_from_one_field_to_the_next_is_another_exploration() -> None:
    sample = exploration(task=Task(text="a", libraries=("b",), check="1", context="2"))
    trust.sign(sample)

    task = sample.task.model_copy(update={"check": "1context2", "context": ""})

    assert not trust.is_own(sample.model_copy(update={"task": task}))


def test_what_a_notebook_claims_does_not_make_it_ones_own(tmp_path: Path) -> None:
    content = document.to_notebook(exploration())
    content["metadata"] |= {"signature": "sha256:0", "trusted": True}
    notebook.write(tmp_path / "tea.ipynb", content)

    assert not trust.is_own(document.load(tmp_path / "tea.ipynb"))


def test_the_secret_is_the_users_alone(data_folder: Path) -> None:
    trust.sign(exploration())

    files = sorted((data_folder / "exploracoder" / "trust").iterdir())
    assert (data_folder / "exploracoder" / "trust").stat().st_mode & 0o077 == 0
    assert [file.stat().st_mode & 0o077 for file in files if file.name.endswith("secret")] == [0]


def test_where_no_signature_can_be_kept_one_is_asked(data_folder: Path) -> None:
    data_folder.mkdir()
    (data_folder / "exploracoder").touch()
    trust.sign(exploration())

    assert not trust.is_own(exploration())


def test_agreeing_holds_for_what_was_shown_alone() -> None:
    sample, where = exploration(), {"python": "/python", "sandbox": "strict"}
    preview = trust.preview(sample, **where)
    other = sample.model_copy(update={"task": sample.task.model_copy(update={"context": "1"})})

    with pytest.raises(UntrustedError):
        trust.check(other, "it", **where, agreed_digest=preview.digest)
    trust.check(sample, "it", **where, agreed_digest=preview.digest)
    assert trust.is_own(sample)


async def test_python_code_is_not_given_a_strangers_exploration_unasked(foreign: Path) -> None:
    with pytest.raises(UntrustedError) as refusal:
        async with open_exploration(document.load(foreign), output=foreign):
            pass

    assert refusal.value.preview.cells == 2
