"""What a folder of runs was begun with: an adapter makes another model of the embedded one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from exploracoder.errors import InputError
from exploracoder.models.adapter import file_sha256
from exploracoder.models.catalogue import DEFAULT
from exploracoder_bench import bench_commands
from exploracoder_bench.cli import bench
from exploracoder_bench.harness import Bench
from exploracoder_bench.plan import going_on, identity_of
from exploracoder_bench.results import RunResult
from exploracoder_bench.runs import ModelOptions
from gguf_files import write_gguf

LORA = {"general.architecture": "qwen2", "general.type": "adapter", "adapter.type": "lora"}


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "searching.gguf", LORA, {})


@pytest.fixture
def planned(kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Bench]:
    """The benches that would have been run."""
    benches: list[Bench] = []

    def note(one: Bench, _: object) -> list[RunResult]:
        benches.append(one)
        raise InputError("Enough was seen.")

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EXPLORACODER_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(bench_commands, "run_bench", note)
    return benches


def run(kit: Path, out: Path, *more: object) -> BaseException | None:
    """What ended ``bench run``."""
    words = ["run", "--problems", kit, "--select", "Tiny/0", "--pythons", sys.executable]
    words += ["--method", "toolcoder", "--out", out, *more]
    return CliRunner().invoke(bench, list(map(str, words))).exception


def test_the_identity_of_the_embedded_model_is_its_files_and_the_adapters(adapter: Path) -> None:
    plain, first = identity_of("embedded", None, ""), identity_of("embedded", None, "", "a" * 64)

    assert plain == DEFAULT.sha256
    assert len({plain, first, identity_of("embedded", None, "", "b" * 64)}) == 3
    assert first == identity_of("embedded", None, "", "a" * 64)


def test_an_adapter_is_named_in_the_plan_and_given_to_each_run(
    kit: Path, planned: list[Bench], adapter: Path, tmp_path: Path
) -> None:
    run(kit, tmp_path / "plain")
    run(kit, tmp_path / "taught", "--lora", adapter)

    plain, taught = planned
    identity = identity_of("embedded", None, "", file_sha256(adapter))
    assert (plain.plan.model, plain.plan.lora) == ("embedded", "")
    assert (taught.plan.model, taught.plan.lora) == ("embedded+searching", file_sha256(adapter))
    assert taught.plan.identity == identity
    assert taught.model_options.options[:2] == ["--model", "embedded"]
    assert taught.model_options.options[-2:] == ["--lora", str(adapter)]
    assert taught.model_options.replies != plain.model_options.replies
    with pytest.raises(InputError, match=r"it was embedded \(.*now it is embedded\+searching \("):
        going_on(plain.plan, taught.plan, [])


def test_the_same_adapter_elsewhere_goes_on_and_a_changed_one_does_not(
    kit: Path, planned: list[Bench], adapter: Path, tmp_path: Path
) -> None:
    run(kit, tmp_path / "out", "--lora", adapter)
    new_path = adapter.rename(tmp_path / "moved.gguf")
    run(kit, tmp_path / "out", "--lora", new_path)
    write_gguf(new_path, LORA | {"general.name": "another"}, {})
    run(kit, tmp_path / "out", "--lora", new_path)

    first, same, other = (one.plan for one in planned)
    assert going_on(first, same, []).identity == first.identity
    with pytest.raises(InputError, match="The model changed under the runs kept here"):
        going_on(first, other, [])


def test_an_adapter_that_cannot_be_used_is_refused_before_anything_runs(
    kit: Path, planned: list[Bench], adapter: Path, tmp_path: Path
) -> None:
    endpoint = ("--model", "other", "--base-url", "http://127.0.0.1:9/v1")
    hosted = run(kit, tmp_path / "out", "--lora", adapter, *endpoint)
    gone = run(kit, tmp_path / "out", "--lora", tmp_path / "gone.gguf")
    (tmp_path / "text.gguf").write_text("no adapter")
    text = run(kit, tmp_path / "out", "--lora", tmp_path / "text.gguf")

    assert planned == []
    assert isinstance(hosted, InputError) and "--lora is for the embedded model" in str(hosted)
    assert isinstance(gone, InputError) and "gone.gguf cannot be read" in str(gone)
    assert isinstance(text, InputError) and "no GGUF file" in str(text)


def test_an_adapters_path_holds_in_the_working_folder() -> None:
    options = ModelOptions("embedded", lora=Path("adapter/adapter.gguf")).options

    assert options[-2:] == ["--lora", str(Path("adapter/adapter.gguf").absolute())]
