"""Results made up for tests; what is not given is that of a solved run."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from exploracoder_bench.ledger import Ledger
from exploracoder_bench.plan import Plan, write_plan
from exploracoder_bench.provenance import Code, Machine, Provenance
from exploracoder_bench.results import RunResult

# What a machine's load changes, and what tells a sample that took replies of one that was ended.
NOT_COMPARED = {"seconds", "seconds_model", "seconds_execution", "seconds_exploration"}
NOT_COMPARED |= {"cached_calls", "jobs"}


def made(**fields: Any) -> RunResult:
    """A solved run, but for what is given."""
    defaults: dict[str, Any] = {
        "problem": "Tiny/0",
        "dataset": "Tiny",
        "method": "direct",
        "seed": 0,
        "status": "solved",
        "exit_code": 0,
        "ran": True,
        "executed": True,
        "checks": "passed",
        "tests_passed": 1,
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "cached_tokens": 600,
        "seconds": 10.0,
    }
    return RunResult.model_validate(defaults | fields)


def failed(**fields: Any) -> RunResult:
    """A run whose check failed."""
    wrong = {"status": "failed", "exit_code": 1, "checks": "failed", "tests_passed": 0}
    return made(**(wrong | fields))


def apart(**fields: Any) -> RunResult:
    """A run that does not count."""
    aside = {"status": "setup", "fault": "harness", "exit_code": 2, "ran": False, "executed": None}
    return made(**(aside | fields))


def provenance(digest: str = "0" * 16, **fields: Any) -> dict[str, Provenance]:
    """What a plan says of with what it was run, by its key."""
    defaults: dict[str, Any] = {
        "code": Code(digest=digest),
        "versions": {"python": "3.11.2"},
        "model": "tea",
        "identity": "0" * 64,
        "server": "teapot 1.0",
        "sandbox": "strict (bubblewrap)",
        "machine": Machine(system="Linux x86_64", processor="avx2", cores=2, memory_gib=8),
        "executor": "local, 1 at a time",
        "settings": {},
    }
    record = Provenance.model_validate(defaults | fields)
    return {record.key: record}


def plan(**fields: Any) -> Plan:
    """A plan of one method, but for what is given."""
    defaults: dict[str, Any] = {
        "version": "1.0",
        "python": "3.11.2",
        "created": datetime(2026, 1, 2, tzinfo=timezone.utc),
        "command": "exploracoder bench run",
        "model": "tea",
        "identity": "0" * 64,
        "options": (),
        "timeout_s": 60.0,
        "methods": ("direct",),
        "samples": 1,
    }
    return Plan.model_validate(defaults | fields)


def runs(folder: Path, results: list[RunResult], **fields: Any) -> Path:
    """A folder as ``bench run`` leaves it, but for what is given of its plan."""
    defaults: dict[str, Any] = {
        "methods": tuple(dict.fromkeys(one.method for one in results)),
        "samples": 2,
        "problems": {one.problem: "digest" for one in results},
        "excluded": {"Bad/0": "Its known solution fails here: KeyError"},
        "provenance": provenance(),
    }
    write_plan(folder, plan(**(defaults | fields)))
    ledger = Ledger(folder / "results.jsonl")
    for one in results:
        ledger.append(one)
    return folder
