"""With what runs were made, and that no table mixes runs of different code."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder.settings import PROFILES
from exploracoder_bench.ledger import Ledger
from exploracoder_bench.plan import going_on, read_plan
from exploracoder_bench.provenance import provenance_of
from exploracoder_bench.report.comparing import comparison
from exploracoder_bench.report.writing import write_report

from .made_results import made, plan, provenance, runs

ROOT = Path(__file__).parents[2]


def test_a_run_notes_its_code_server_sandbox_machine_and_settings() -> None:
    settings = {"exploration": PROFILES["small"]}
    about = {"model": "embedded", "identity": "0", "base_url": None, "api_key": ""}

    record = provenance_of(settings, executor="local", **about)

    if (ROOT / ".git").exists():
        process = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert record.code.commit == process.stdout.strip()
    assert record.server.startswith("xllamacpp ")
    assert record.sandbox
    assert record.machine.cores <= (os.cpu_count() or 1)
    assert record.machine.memory_gib > 0.5
    assert record.settings["exploration"]["profile"] == "small"
    assert record.key == record.model_copy().key != record.model_copy(update={"sandbox": ""}).key


def test_runs_do_not_go_on_with_other_code() -> None:
    ours, others = plan(provenance=provenance("a" * 16)), plan(provenance=provenance("b" * 16))

    same = going_on(ours, plan(provenance=provenance("a" * 16, sandbox="off")), [])

    assert len(same.provenance) == 2
    for before, now in ((ours, others), (plan(), ours)):
        with pytest.raises(InputError, match=r"made with code .*Use another --out, or that code"):
            going_on(before, now, [])


def test_a_report_of_different_code_is_refused_or_says_which(tmp_path: Path) -> None:
    old = runs(tmp_path / "old", [made()], provenance=provenance("a" * 16))
    new = runs(tmp_path / "new", [made()], provenance=provenance("b" * 16))

    with pytest.raises(InputError, match="old with files aaaaaaa, new with files bbbbbbb"):
        write_report([old, new], tmp_path / "report", None, print)

    tables = write_report([old, new], tmp_path / "report", None, print, any_code=True)
    assert "| direct (old, code files aaaaaaa) | 1 |" in tables
    assert "| code | files aaaaaaa | files bbbbbbb |" in comparison(str(old), str(new))
    assert "teapot 1.0" in (tmp_path / "report/report.md").read_text()


def test_of_two_runs_of_an_earlier_version_nobody_knows_whether_the_code_was_the_same(
    tmp_path: Path,
) -> None:
    folders = [runs(tmp_path / name, [made()], provenance={}) for name in ("old", "new")]

    with pytest.raises(InputError, match="old with unknown, new with unknown"):
        write_report(folders, tmp_path / "report", None, print)
    assert "| direct | 1 |" in write_report(folders[:1], tmp_path / "report", None, print)


def test_results_of_before_this_was_noted_are_read() -> None:
    for file in (ROOT / "benchmarks/results").rglob("plan.json"):
        plan = read_plan(file.parent)

        assert plan is not None
        keys = {one.provenance for one in Ledger(file.with_name("results.jsonl"))}
        assert keys <= ({*plan.provenance} or {""})
