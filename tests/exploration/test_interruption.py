"""Explorations that are killed, interrupted or run out of room, and go on."""

from __future__ import annotations

import json
import resource
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from exploracoder.testing import Delay, Rule, ScriptedModelServer
from waiting import PATIENCE_S, Sign, wait_until

from .conftest import Command, Explorer, Outcome, Serve, model_words, saved, start_command
from .scripted import (
    CHECK,
    COLLECT,
    GOALS,
    KEEP,
    READ,
    SOLUTION,
    WRONG_SOLUTION,
    TeaModel,
    fenced,
    kind_of,
    step_of,
    whole_text,
)

# Longer than any test waits: the server hangs until the test ends.
FOR_EVER = Delay(120, "too late")


def steps_done(notebook: Path) -> int:
    """How many steps a notebook says are done, while another process may be writing it."""
    if not notebook.exists():
        return 0
    return sum(step.status == "done" for step in saved(notebook).steps)


def drafted_steps(server: ScriptedModelServer) -> list[int]:
    return [step_of(request) for request in server.chat_requests if kind_of(request) == "draft"]


def ended(process: subprocess.Popen[str]) -> Outcome:
    out, err = process.communicate(timeout=PATIENCE_S)
    return Outcome(process.returncode, out, err)


def wait_for(process: subprocess.Popen[str], condition: Callable[[], object]) -> None:
    """Wait for what a command brings about; fails with its errors when it ends before."""

    def has_come() -> bool:
        has_ended = process.poll() is not None  # looked at first: what came last counts
        if condition():
            return True
        assert not has_ended, ended(process).err
        return False

    wait_until(has_come)


@pytest.fixture
def start(explore: Explorer, library: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the installed command; what still runs at the end of the test is killed."""
    processes: list[subprocess.Popen[str]] = []

    def run(*words: object) -> subprocess.Popen[str]:
        processes.append(start_command(words, library))
        return processes[-1]

    yield run
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


def stuck_in_step_3(
    serve: Serve, explore: Explorer, start: Callable[..., subprocess.Popen[str]]
) -> subprocess.Popen[str]:
    """An exploration whose model does not answer in step 3; steps 1 and 2 are saved."""
    server = serve(TeaModel(drafts={3: [FOR_EVER]}))
    process = start(
        *explore.words(server, *explore.files(), "--profile", "small", "--set", "first-tries=0")
    )
    wait_for(process, lambda: steps_done(explore.notebook) == 2 and 3 in drafted_steps(server))
    return process


def resume(command: Command, notebook: Path, server: ScriptedModelServer) -> Outcome:
    return command("resume", notebook, *model_words(server), "--json", "--quiet")


@pytest.mark.slow
def test_killed_in_step_3_it_resumes_without_asking_again(
    serve: Serve, explore: Explorer, command: Command, start: Callable[..., subprocess.Popen[str]]
) -> None:
    process = stuck_in_step_3(serve, explore, start)
    process.kill()
    process.communicate()
    before = saved(explore.notebook)
    server = serve()
    outcome = resume(command, explore.notebook, server)
    after = explore.exploration

    assert before.status == "running"
    assert outcome.code == 0
    assert outcome.json["status"] == "solved"
    assert [kind_of(request) for request in server.chat_requests] == ["draft", "solution"]
    assert drafted_steps(server) == [3]
    assert outcome.json["usage_of_this_run"]["calls"] == 2
    assert outcome.json["usage"]["calls"] == before.usage.calls + 2
    assert after.id == before.id
    assert after.steps[:2] == before.steps[:2]
    assert after.steps[2].candidate is not None
    assert after.steps[2].candidate.code == COLLECT


@pytest.mark.slow
def test_what_a_person_put_into_the_notebook_is_there_after_resuming(
    serve: Serve, explore: Explorer, command: Command, start: Callable[..., subprocess.Popen[str]]
) -> None:
    process = stuck_in_step_3(serve, explore, start)
    process.kill()
    process.communicate()
    edited = nbformat.read(explore.notebook, nbformat.NO_CONVERT)
    ids = [cell.id for cell in edited.cells]
    edited.cells[ids.index("step-1")].source += "\n# looked at"
    edited.cells[ids.index("step-2-goal")].source += "\n\nMy note."
    edited.cells.insert(ids.index("step-1") + 1, nbformat.v4.new_code_cell("mine = 1", id="mine"))
    edited.metadata["kernelspec"] = {"display_name": "Tea", "language": "python", "name": "tea"}
    nbformat.write(edited, explore.notebook)
    outcome = resume(command, explore.notebook, serve())
    after = nbformat.read(explore.notebook, nbformat.NO_CONVERT)
    sources = {cell.id: cell.source for cell in after.cells}

    assert outcome.json["status"] == "solved"
    assert sources["step-1"] == f"{READ}\n# looked at"
    assert "My note." in "".join(sources.values())
    assert [*sources][[*sources].index("step-1") + 1] == "mine"
    assert after.metadata["kernelspec"]["name"] == "tea"
    assert "solution" in sources


@pytest.mark.slow
@pytest.mark.parametrize("method", ["best-of-n", "react"])
def test_ctrl_c_keeps_the_texts_that_were_written_before(
    serve: Serve,
    explore: Explorer,
    command: Command,
    start: Callable[..., subprocess.Popen[str]],
    method: str,
) -> None:
    server = serve([Rule("", fenced(WRONG_SOLUTION), FOR_EVER)])
    process = start(*explore.words(server, *explore.files(), "--method", method))
    wait_for(process, lambda: len(server.chat_requests) == 2)
    process.send_signal(signal.SIGINT)
    ending = ended(process)
    before = saved(explore.notebook)
    outcome = resume(command, explore.notebook, serve())

    assert ending.code == 130
    assert before.status == "cancelled"
    assert before.solution is not None
    assert [one.checks for one in before.solution.attempts] == ["failed"]
    assert outcome.json["status"] == "solved"


@pytest.mark.slow
def test_killed_while_the_model_looks_it_goes_on_with_what_was_written(
    serve: Serve, explore: Explorer, command: Command, start: Callable[..., subprocess.Popen[str]]
) -> None:
    server = serve(TeaModel(solutions=[fenced(WRONG_SOLUTION)], looks=[FOR_EVER]))
    process = start(*explore.words(server, *explore.files()))
    wait_for(process, lambda: any(kind_of(request) == "look" for request in server.chat_requests))
    process.kill()
    process.communicate()
    before = saved(explore.notebook)
    server = serve(TeaModel(looks=[f"### Solution\n{fenced(SOLUTION)}"]))
    outcome = resume(command, explore.notebook, server)
    (look,) = server.chat_requests

    assert outcome.json["status"] == "solved"
    assert kind_of(look) == "look"
    assert WRONG_SOLUTION in whole_text(look)
    assert explore.exploration.steps == before.steps


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_interrupted_it_saves_and_says_how_to_go_on(
    serve: Serve,
    explore: Explorer,
    command: Command,
    start: Callable[..., subprocess.Popen[str]],
    number: signal.Signals,
) -> None:
    process = stuck_in_step_3(serve, explore, start)
    before = explore.exploration.seconds_total
    time.sleep(0.5)
    process.send_signal(number)
    ending = ended(process)
    status, seconds = explore.exploration.status, explore.exploration.seconds_total
    nbformat.validate(json.loads(explore.notebook.read_text(encoding="utf-8")))
    outcome = resume(command, explore.notebook, serve())

    assert ending.code == 130
    assert f"exploracoder resume {explore.notebook}" in " ".join(ending.err.split())
    assert "Traceback" not in ending.err
    assert status == "cancelled"
    assert seconds >= before + 0.5
    assert outcome.json["status"] == "solved"


@pytest.mark.thorough
@pytest.mark.slow
def test_interrupted_while_it_goes_back_the_chain_is_as_it_was(
    serve: Serve, explore: Explorer, command: Command, start: Callable[..., subprocess.Popen[str]]
) -> None:
    failing = fenced("mistaken = 1 / 0")
    script = TeaModel(
        drafts={1: [fenced(READ), FOR_EVER], 2: [failing]}, debugs={2: [failing]}, goals=GOALS[:2]
    )
    server = serve(script)
    process = start(
        *explore.words(server, *explore.files(), "--profile", "small", "--set", "first-tries=0")
    )
    wait_for(process, lambda: drafted_steps(server).count(1) == 2)
    process.send_signal(signal.SIGINT)
    ending = ended(process)
    snapshot = explore.exploration
    outcome = resume(command, explore.notebook, serve())

    assert ending.code == 130
    assert snapshot.steps[0].status == "done"
    assert outcome.code == 0
    assert outcome.json["subtasks"][0]["code"] == READ


@pytest.mark.slow
def test_interrupted_while_code_runs_no_process_is_left(
    serve: Serve, explore: Explorer, start: Callable[..., subprocess.Popen[str]]
) -> None:
    sign = Sign()
    endless = f"import time\n{sign.code}\nwhile True: time.sleep(1)"
    server = serve(TeaModel(drafts={2: [fenced(endless)]}))
    process = start(
        *explore.words(server, *explore.files(), "--profile", "small", "--set", "first-tries=0")
    )
    wait_for(process, sign.processes)
    process.send_signal(signal.SIGINT)
    ending = ended(process)

    assert ending.code == 130
    wait_until(lambda: not sign.processes())
    assert steps_done(explore.notebook) == 1


def test_resuming_that_is_interrupted_before_it_begins_ends_as_interrupted(
    serve: Serve, explore: Explorer, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(work: Coroutine[Any, Any, None]) -> None:
        work.close()
        raise KeyboardInterrupt

    server = serve()
    explore(server, "--max-tokens", "250", "--profile", "small", "--set", "first-tries=0")
    monkeypatch.setattr("exploracoder.cli.explore.run_async", interrupted)
    words = [*model_words(server), "--reasoning-effort", "low", "--lora", "tea.gguf"]

    outcome = command("resume", explore.notebook, *words, "--json")

    assert outcome.code == 130
    assert "--reasoning-effort low --lora tea.gguf" in " ".join(outcome.err.split())
    assert outcome.json["status"] == explore.exploration.status


@pytest.mark.thorough
@pytest.mark.slow
def test_interrupted_before_anything_was_planned_it_can_be_resumed(
    serve: Serve, explore: Explorer, command: Command, start: Callable[..., subprocess.Popen[str]]
) -> None:
    server = serve(TeaModel(plans=[FOR_EVER]))
    process = start(
        *explore.words(server, *explore.files(), "--profile", "small", "--set", "first-tries=0")
    )
    wait_for(process, lambda: any(kind_of(request) == "plan" for request in server.chat_requests))
    process.send_signal(signal.SIGINT)
    ending = ended(process)
    outcome = resume(command, explore.notebook, serve())

    assert ending.code == 130
    assert outcome.json["status"] == "solved"


@pytest.mark.slow
def test_interrupted_while_indexing_it_leaves_an_index_that_works(
    command: Command,
    start: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE_S)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        process = start("index", "tealeaf/", "--embeddings-url", url, "--embeddings-model", "tea")
        wait_for(process, lambda: select.select([silent], [], [], 0)[0])
        connection, _ = silent.accept()
        with connection:
            process.send_signal(signal.SIGINT)
            ending = ended(process)
    outcome = command("index", "tealeaf/", "--json")

    assert ending.code == 130
    assert "Interrupted." in ending.err
    assert "Traceback" not in ending.err
    assert outcome.code == 0
    assert outcome.json["apis"] == 15


@pytest.mark.thorough
@pytest.mark.slow
def test_a_full_disk_ends_it_with_the_last_step_kept(
    serve: Serve,
    explore: Explorer,
    command: Command,
    start: Callable[..., subprocess.Popen[str]],
) -> None:
    big = f"{KEEP}\nballast = len('''{'x' * 60_000}''')"
    server = serve(TeaModel(drafts={2: [Delay(5.0, fenced(big))]}))
    process = start(
        *explore.words(server, *explore.files(), "--profile", "small", "--set", "first-tries=0")
    )
    wait_for(process, lambda: steps_done(explore.notebook) == 1)
    room = explore.notebook.stat().st_size + 50_000
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (room, room))
    ending = ended(process)
    snapshot = explore.exploration
    leftovers = [path for path in explore.folder.iterdir() if path.name.startswith(".")]
    outcome = resume(command, explore.notebook, serve())

    assert ending.code == 2
    assert "cannot be written" in " ".join(ending.err.split())
    assert "Traceback" not in ending.err
    assert [step.status for step in snapshot.steps] == ["done", "pending", "pending"]
    assert leftovers == []
    assert outcome.json["solution"] == SOLUTION


@pytest.mark.parametrize("check", [CHECK, None])
def test_what_is_finished_is_not_done_again(
    serve: Serve, explore: Explorer, command: Command, check: str | None
) -> None:
    first_outcome = explore(serve(), "--json", check=check)
    before = explore.notebook.read_bytes()
    server = serve()
    outcome = resume(command, explore.notebook, server)

    assert outcome.code == 0
    assert outcome.json["status"] == first_outcome.json["status"]
    assert outcome.json["usage_of_this_run"]["calls"] == 0
    assert server.chat_requests == []
    assert explore.notebook.read_bytes() == before
    assert "Nothing is left to do" in outcome.err


def test_what_failed_writes_only_its_solution_again(
    serve: Serve, explore: Explorer, command: Command
) -> None:
    wrong = fenced(SOLUTION.replace("> 3", "> 4"))
    explore(serve(TeaModel(solutions=[wrong], repairs=[wrong])))
    server = serve()
    outcome = resume(command, explore.notebook, server)

    assert outcome.json["status"] == "solved"
    kinds = {kind_of(request) for request in server.chat_requests}
    assert kinds <= {"look", "solution", "rerank"}


def test_a_library_by_a_relative_path_is_resumed_from_another_folder(
    serve: Serve,
    explore: Explorer,
    command: Command,
    library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = fenced(SOLUTION.replace("> 3", "> 4"))
    explore(
        serve(TeaModel(solutions=[wrong], repairs=[wrong])),
        "--profile",
        "small",
        "--set",
        "first-tries=0",
    )
    libraries = explore.exploration.task.libraries
    monkeypatch.chdir(tmp_path)
    outcome = resume(command, explore.notebook, serve())

    assert libraries == (str(library / "tealeaf"),)
    assert outcome.code == 0
    assert outcome.json["status"] == "solved"


def test_a_state_that_cannot_be_rebuilt_is_said(
    serve: Serve,
    explore: Explorer,
    command: Command,
    own_library: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(own_library)
    explore(serve(), "--max-tokens", "500", "--profile", "small", "--set", "first-tries=0")
    leaves = own_library / "tealeaf" / "leaves.py"
    broken = leaves.read_text(encoding="utf-8").replace("int(strength)", "leaf(strength)")
    leaves.write_text(broken, encoding="utf-8")
    outcome = command("resume", explore.notebook, *model_words(serve()), "--quiet")

    assert steps_done(explore.notebook) >= 1
    assert outcome.code == 2
    assert "ran before and does not run now: NameError" in " ".join(outcome.err.split())
