"""Whole runs through the command line: killed, on a cluster, with a model that changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from exploracoder.testing import Delay, Outcome, RecordedRequest, ScriptedModelServer
from exploracoder_bench.ledger import Ledger
from exploracoder_kernel.branch.linux import children, descendants, read_process
from waiting import wait_until

from .conftest import make_kit
from .made_results import NOT_COMPARED

pytestmark = pytest.mark.slow

LONG_S = 180.0

BENCH = [sys.executable, "-c", "from exploracoder.cli import main; main()", "bench"]
RIGHT = "```python\ndef spell(numbers):\n    return [frumpkin.frumple(n) for n in numbers]\n```"
WRONG = "```python\nword = 'three'\n```"


class Model:
    """Solves Tiny/0 and not Tiny/1, whose answer it can hold back; counts the answers wanted."""

    def __init__(self) -> None:
        self.wait_s = 0.0
        self.wanted = 0

    def __call__(self, request: RecordedRequest) -> Outcome:
        body = json.dumps(request.body)
        form = json.dumps(request.body.get("response_format", {}))
        if "subtasks" in form:
            return '{"subtasks": ["Spell the number"]}'
        if "relevant" in form:
            return '{"relevant": [1]}'
        if "introductions" in body:
            return "Spells numbers."
        self.wanted += 1
        if "Spell each" in body:
            return RIGHT
        return Delay(self.wait_s, WRONG) if self.wait_s else WRONG


@dataclass
class Stage:
    """A kit, a model, a method, and the command that runs them on one another."""

    kit: Path
    model: Model
    server: ScriptedModelServer
    method: str = "direct"

    def command(self, out: Path, *more: str) -> list[str]:
        arguments = ["run", "--problems", str(self.kit), "--select", "Tiny/0,Tiny/1,Other/0"]
        arguments += ["--method", self.method, "--model", self.server.model, "--timeout", "60"]
        arguments += ["--base-url", self.server.base_url, "--out", str(out)]
        return [*BENCH, *arguments, *more]

    def run(self, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
        command = self.command(out, *more)
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> Iterator[Stage]:
    model = Model()
    kit = make_kit(tmp_path_factory.mktemp("harness") / "kit")
    with ScriptedModelServer(model) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORACODER_CACHE", str(shared_cache))
        patch.delenv("OPENAI_API_KEY", raising=False)
        yield Stage(kit, model, server)


@pytest.fixture(scope="module")
def whole(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    return undisturbed(stage, tmp_path_factory.mktemp("whole"))


@pytest.fixture(
    scope="module", params=["direct", pytest.param("capir", marks=pytest.mark.thorough)]
)
def either(
    request: pytest.FixtureRequest, stage: Stage, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Stage, Path]:
    """A method that plans, or one that does not, and a run of it that nothing disturbed."""
    variant = replace(stage, method=request.param)
    if variant.method == stage.method:
        whole: Path = request.getfixturevalue("whole")
        return variant, whole
    return variant, undisturbed(variant, tmp_path_factory.mktemp("whole"))


def undisturbed(stage: Stage, out: Path) -> Path:
    process = stage.run(out)
    assert process.returncode == 0, process.stderr
    assert "Other/0  excluded  Its check accepts a solution that" in process.stderr
    return out


def facts(out: Path) -> list[dict[str, Any]]:
    """What must be the same however a run went."""
    rows = [one.model_dump(exclude=NOT_COMPARED) for one in Ledger(out / "results.jsonl")]
    return sorted(rows, key=lambda row: str(row["problem"]))


def test_a_run_that_was_killed_ends_with_the_same_table_and_repeats_no_sample(
    either: tuple[Stage, Path], tmp_path: Path
) -> None:
    stage, whole = either
    before = stage.model.wanted
    out = tmp_path / "killed"
    stage.model.wait_s = 30.0
    with subprocess.Popen(stage.command(out), stderr=subprocess.DEVNULL) as harness:
        wait_until(lambda: stage.model.wanted == before + 2, LONG_S)
        request_count = len(stage.server.chat_requests)
        below = descendants([harness.pid])
        harness.kill()
    assert below
    wait_until(lambda: not any(map(read_process, below)), LONG_S)
    assert [row["problem"] for row in facts(out)] == ["Tiny/0"]

    stage.model.wait_s = 0.0
    again = stage.run(out)

    assert again.returncode == 0, again.stderr
    assert facts(out) == facts(whole)
    assert "1 of them finished before" in again.stderr
    # Tiny/0 was not asked for again; of Tiny/1 the answer alone, since it never came.
    assert len(stage.server.chat_requests) == request_count + 1
    lines = (out / "results.jsonl").read_text().splitlines()
    assert len(lines) == 2
    for row in facts(out):
        sample = f"{row['problem'].replace('/', '_')}/{stage.method}-0"
        trace = out / "work" / sample / "exploration.ipynb"
        assert json.loads(trace.read_text())["nbformat"] == 4
    assert not (out / "attempts").exists() or not list((out / "attempts").iterdir())


def test_ctrl_c_ends_a_run_at_once_with_what_is_finished_kept(stage: Stage, tmp_path: Path) -> None:
    before, out = stage.model.wanted, tmp_path / "interrupted"
    stage.model.wait_s = 30.0
    with subprocess.Popen(
        stage.command(out), stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as harness:
        wait_until(lambda: stage.model.wanted == before + 2, LONG_S)
        below = descendants([harness.pid])
        # As a terminal does, to all that it runs.
        os.killpg(harness.pid, signal.SIGINT)
        _, stderr = harness.communicate(timeout=20)
    stage.model.wait_s = 0.0

    assert harness.returncode == 130
    assert f"the same command goes on with {out}." in stderr
    assert "Traceback" not in stderr
    assert below
    wait_until(lambda: not any(map(read_process, below)), LONG_S)
    assert [row["problem"] for row in facts(out)] == ["Tiny/0"]


def test_a_hidden_check_is_asked_only_when_the_solution_is_there(
    stage: Stage, whole: Path, tmp_path: Path
) -> None:
    process = stage.run(tmp_path, "--checks", "hidden")

    assert process.returncode == 0, process.stderr
    assert [one["status"] for one in facts(tmp_path)] == [one["status"] for one in facts(whole)]
    for report in tmp_path.glob("work/*/*/report.json"):
        assert json.loads(report.read_text())["verified"]["checks"] == "none"
        assert not (report.parent / "check.py").exists()

    rerun = stage.run(tmp_path)

    assert rerun.returncode != 0
    assert "--checks hidden" in rerun.stderr


def test_each_problem_finds_the_others_solved_and_never_itself(
    stage: Stage, whole: Path, tmp_path: Path
) -> None:
    variant = replace(stage, method="exploration")

    def asked(out: Path, *more: str) -> dict[str, str]:
        before = len(stage.server.chat_requests)
        process = variant.run(out, "--checks", "hidden", *more)
        assert process.returncode == 0, process.stderr
        bodies = [json.dumps(one.body) for one in stage.server.chat_requests[before:]]
        return {
            task: " ".join(one for one in bodies if f"Task: {task}" in one)
            for task in ("Spell each", "Spell it.")
        }

    alone = asked(tmp_path / "alone")
    remembering = asked(tmp_path / "remembering", "--solved-others")

    of_each, of_it = "frumpkin.frumple(number) for number in", "word = frumpkin.frumple(number)"
    # What the same model solved in another run, with its check, is no example in a measurement.
    assert not any(code in prompts for prompts in alone.values() for code in (of_each, of_it))
    assert of_each in remembering["Spell it."]
    assert of_it not in remembering["Spell it."]
    assert of_it in remembering["Spell each"]
    assert of_each not in remembering["Spell each"]


def test_a_model_or_a_problem_that_changed_is_refused_before_anything_is_asked(
    stage: Stage, whole: Path
) -> None:
    plan = json.loads((whole / "plan.json").read_text())
    assert list(plan["excluded"]) == ["Other/0"]
    assert [row["status"] for row in facts(whole)] == ["solved", "failed"]

    with ScriptedModelServer(RIGHT, model="another") as other:
        model_refusal = stage.run(whole, "--model", other.model, "--base-url", other.base_url)
    assert "The model changed under the runs kept here" in model_refusal.stderr
    assert other.chat_requests == []

    number = stage.kit / "fixtures/numbers/data/number.txt"
    number.write_text("3")
    data_refusal = stage.run(whole)
    number.write_text("2")
    assert "Tiny/1: the problem or its data changed" in data_refusal.stderr


@pytest.mark.thorough
def test_methods_share_replies_when_the_command_says_so(stage: Stage, tmp_path: Path) -> None:
    both = replace(stage, method="capir,epigen")

    process = both.run(tmp_path, "--share-replies")

    assert process.returncode == 0, process.stderr
    results = list(Ledger(tmp_path / "results.jsonl"))
    # By problem: a run that is ended has problems of which every method is there.
    assert [(one.problem, one.method) for one in results] == [
        (problem, method) for problem in ("Tiny/0", "Tiny/1") for method in ("capir", "epigen")
    ]
    assert [one.cached_calls for one in results[::2]] == [0, 0]
    assert [one.calls - one.cached_calls for one in results[1::2]] == [1, 1]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_of_two_processes_ends_with_the_same_table(
    either: tuple[Stage, Path],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    distributed = pytest.importorskip("distributed")
    stage, whole = either
    # Nothing is there yet that two workers could both want to make.
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path_factory.mktemp("cache")))

    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        process = stage.run(tmp_path / "dask", "--executor", f"dask://{address}")

    assert process.returncode == 0, process.stderr
    assert facts(tmp_path / "dask") == facts(whole)
    assert {one.jobs for one in Ledger(whole / "results.jsonl")} == {1}
    assert {one.jobs for one in Ledger(tmp_path / "dask" / "results.jsonl")} == {2}


@pytest.mark.thorough
def test_a_worker_that_dies_is_nobodys_failure(stage: Stage, tmp_path: Path) -> None:
    before = len(stage.server.chat_requests)
    stage.model.wait_s = 30.0
    out = tmp_path / "out"
    command = stage.command(out)
    command[command.index("Tiny/0,Tiny/1,Other/0")] = "Tiny/1"
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as harness:
        wait_until(lambda: len(stage.server.chat_requests) > before, LONG_S)
        # The leash, the command, and what that started: the command dies.
        os.kill(children(children(harness.pid)[0])[0], signal.SIGKILL)
        stderr = harness.communicate(timeout=180)[1]
    stage.model.wait_s = 0.0

    assert "(harness)" in stderr
    (row,) = facts(out)
    assert (row["status"], row["fault"]) == ("setup", "harness")
