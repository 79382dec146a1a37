"""What the command line makes of its options, before anything is run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from exploracoder.errors import InputError
from exploracoder.methods import METHODS
from exploracoder_bench import bench_commands, harness
from exploracoder_bench.cli import bench
from exploracoder_bench.ledger import Ledger
from exploracoder_bench.plan import read_plan
from exploracoder_bench.provenance import own_code
from exploracoder_bench.results import RunResult
from exploracoder_bench.samples import Sample

from .made_results import made


@dataclass
class Stage:
    """Runs the command on one problem; nothing is judged, asked or run in truth."""

    kit: Path
    out: Path
    judged_s: list[float | None]
    explored: list[Sample] = field(default_factory=list)

    def run(self, *words: str) -> Result:
        arguments = [
            "run",
            "--problems",
            str(self.kit),
            "--select",
            "Tiny/0",
            "--out",
            str(self.out),
        ]
        return CliRunner().invoke(bench, [*arguments, *words], standalone_mode=False)

    def explore(self, sample: Sample, **_: object) -> RunResult:
        self.explored.append(sample)
        way = sample.way
        return made(method=way.row, seed=way.seed, options=way.options)


@pytest.fixture
def stage(
    kit: Path, tmp_path: Path, judged_s: list[float | None], monkeypatch: pytest.MonkeyPatch
) -> Stage:
    new_stage = Stage(kit, tmp_path / "out", judged_s)
    monkeypatch.setattr(harness, "explore", new_stage.explore)
    return new_stage


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        # The embedded model's profile is 'small'.
        ([], 15),
        (["--profile", "standard"], 30),
        (["--set", "run-seconds=120"], 120),
        (["--profile", "paper", "--set", "run_seconds=0.5"], 0.5),
    ],
)
def test_known_solutions_and_samples_have_the_same_seconds_for_a_run(
    stage: Stage, words: list[str], seconds: float
) -> None:
    methods = ("direct", "capir", "exploration")
    result = stage.run("--model", "embedded", "--method", ",".join(methods), *words)

    assert result.exception is None, result.output
    assert stage.judged_s == [seconds]
    assert {sample.way.method: sample.run_seconds for sample in stage.explored} == dict.fromkeys(
        methods, seconds
    )


def test_an_ablation_is_a_row_of_its_own_with_the_settings_that_make_it(stage: Stage) -> None:
    words = ("--model", "embedded", "--method", "direct,exploration", "--ablate", "sieve,grammar")
    result = stage.run(*words)

    assert result.exception is None, result.output
    ways = {sample.key[1]: sample.way for sample in stage.explored}
    assert list(ways) == ["direct", "exploration", "exploration-no-sieve", "exploration-no-grammar"]
    assert ways["exploration-no-sieve"].method == "exploration"
    assert ways["exploration-no-sieve"].options == ("--set=sift=False",)
    assert len({sample.folder for sample in stage.explored}) == 4
    ledger = Ledger(stage.out / "results.jsonl")
    assert {one.method: one.options for one in ledger}["exploration-no-grammar"] == (
        "--set=existing_names=False",
    )


def test_a_plan_and_each_of_its_results_say_with_what_they_were_made(stage: Stage) -> None:
    result = stage.run("--model", "embedded", "--method", "direct")

    assert result.exception is None, result.output
    plan = read_plan(stage.out)
    assert plan is not None
    assert plan.code == own_code()
    assert [one.provenance for one in Ledger(stage.out / "results.jsonl")] == [*plan.provenance]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ablate", "memory"], "exploration does without memory"),
        (["--set", "repair-rounds=1"], "direct has repair_rounds = 0"),
        (["--set", "candidates=0"], "A setting cannot be used"),
        (["--set", "no-such=1"], "--set takes NAME=VALUE"),
        (["--profile", "huge"], "There is no profile 'huge'"),
        (["--method", "exploration,no-such"], "There is no method 'no-such'"),
        (["--method", " , "], "--method names no method"),
    ],
)
def test_what_one_of_the_methods_refuses_is_said_before_anything_is_done(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    # Not even an environment of pins is made.
    monkeypatch.setattr(bench_commands, "with_environments", lambda *_: pytest.fail("made one"))

    result = stage.run("--model", "embedded", "--method", "exploration,direct", *words)

    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
    assert not stage.out.exists()


def test_a_sample_during_which_the_code_was_changed_does_not_count(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "code_digest", lambda: "another")

    result = stage.run("--model", "embedded", "--method", "direct")

    assert "The code was changed while this ran" in str(result.exception)
    assert not list(Ledger(stage.out / "results.jsonl"))


def test_a_run_ends_before_it_could_pass_its_money_and_goes_on_with_more(stage: Stage) -> None:
    # A sample has 1,000 prompt and 100 completion tokens.
    words = ["--model", "embedded", "--method", "direct", "--samples", "4", "--price", "10,100"]

    result = stage.run(*words, "--max-money", "0.05")

    assert "0.04 of 0.05 are spent, and the next sample, of direct, may cost 0.02" in result.output
    assert "2 samples were not begun" in result.output
    assert result.return_value == 1
    assert len(stage.explored) == 2
    assert stage.run(*words, "--max-money", "0.08", "--jobs", "3").return_value == 0
    assert [sample.way.seed for sample in stage.explored] == [0, 1, 2, 3]


def test_money_without_a_price_is_refused_and_the_table_of_prices_has_one(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--model", "embedded", "--method", "direct", "--max-money", "1"]
    result = stage.run(*words)

    assert "--max-money needs the price of embedded" in str(result.exception)
    config = stage.kit / "config"
    config.mkdir()
    (config / "prices.yaml").write_text("- {model: embed*, prompt: 1, completion: 2}\n")
    monkeypatch.setenv("EXPLORACODER_CONFIG", str(config))
    assert stage.run(*words).return_value == 0
    plan = read_plan(stage.out)
    assert plan is not None
    assert plan.price.completion == 2


def test_the_pages_compare_methods_that_there_are() -> None:
    page = Path(__file__).parents[2] / "docs/benchmarks.md"
    text = page.read_text(encoding="utf-8") + (bench.commands["compare"].help or "")
    methods = re.findall(r"\bruns:([\w-]+)", text)

    assert len(methods) == 5
    assert set(methods) <= set(METHODS)
