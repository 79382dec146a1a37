from __future__ import annotations

import csv
import json
from datetime import datetime, timezone
from html.parser import HTMLParser
from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder_bench.ledger import Ledger
from exploracoder_bench.metrics import is_pass
from exploracoder_bench.plan import Plan, write_plan
from exploracoder_bench.report.comparing import comparison
from exploracoder_bench.report.tables import apart_table, at_k_table, datasets_table, methods_table
from exploracoder_bench.report.writing import write_report
from exploracoder_bench.results import RunResult

from .made_results import apart, failed, made

EVIL = "<script>alert(1)</script>"
CHAIN = {"broken_at": 2, "error": "KeyError", "apis": 2, "recommended": ("tea.brew",)}
RESULTS = [
    made(),
    made(seed=1),
    failed(problem="Tiny/1", reason=EVIL, solution=f"x = '{EVIL}'", subtasks=3, chain=CHAIN),
    failed(problem="Tiny/1", seed=1, reason="=cmd()", ran=False),
    apart(problem="Tiny/2", reason="The disk | is\nfull."),
    made(method="ours", prompt_tokens=12_345),
    made(method="ours", problem="Tiny/1", subtasks=2),
]


def runs(folder: Path, results: list[RunResult]) -> Path:
    """A folder as ``bench run`` leaves it."""
    plan = Plan(
        created=datetime(2026, 1, 2, tzinfo=timezone.utc),
        command="exploracoder bench run",
        model="tea",
        identity="0" * 64,
        options=(),
        timeout_s=60,
        methods=tuple(dict.fromkeys(one.method for one in results)),
        samples=2,
        problems={one.problem: "digest" for one in results},
        excluded={"Bad/0": "Its known solution fails here: KeyError"},
    )
    write_plan(folder, plan)
    ledger = Ledger(folder / "results.jsonl")
    for one in results:
        ledger.append(one)
    return folder


class Tags(HTMLParser):
    """The names of the tags of a page, and where its links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]


def test_the_methods_stand_in_lines_and_what_does_not_count_stands_apart() -> None:
    lines = methods_table(RESULTS).splitlines()

    assert lines[2].startswith("| direct | 2 | 4 | 50.0% [")
    assert lines[2].endswith("| 1,000 | 600 | 100 | 10.0 | 1 |")
    assert lines[3].startswith("| ours | 2 | 2 | 100.0% [100.0%, 100.0%] |")


def test_a_k_of_which_a_method_has_too_few_samples_is_left_out() -> None:
    results = [made(seed=seed) for seed in range(3)] + [made(method="ours")]

    lines = at_k_table(results, "pass@k", is_pass).splitlines()

    assert lines[0] == "| pass@k | k = 1 | k = 3 |"
    assert lines[3].endswith("| - |")


def test_the_data_sets_stand_in_lines_and_the_methods_in_columns() -> None:
    lines = datasets_table([*RESULTS, failed(dataset="Other", problem="O/0")]).splitlines()

    assert lines[0] == "| pass@1 | direct | ours |"
    assert lines[2] == "| Other | 0.0% [0.0%, 0.0%] | - |"


def test_what_does_not_count_is_listed_with_whose_fault_it_is_in_one_line() -> None:
    assert apart_table([made()]) == ""
    assert apart_table(RESULTS).splitlines()[2:] == [
        "| Tiny/2 | direct-0 | harness | The disk \\| is full. |"
    ]


def test_a_report_has_tables_sheets_pictures_and_says_what_was_left_out(tmp_path: Path) -> None:
    folder = runs(tmp_path / "runs", RESULTS)

    write_report([folder], tmp_path / "report", None, print)

    text = (tmp_path / "report/report.md").read_text()
    assert "| Bad/0 | Its known solution fails here: KeyError |" in text
    assert "`exploracoder bench run`" in text
    for name in ("cost.svg", "breaks.svg"):
        assert f"({name})" in text
        assert "<svg" in (tmp_path / "report" / name).read_text()
    with (tmp_path / "report/samples.csv").open() as sheet:
        rows = list(csv.DictReader(sheet))
    assert len(rows) == len(RESULTS)
    assert "'=cmd()" in {row["reason"] for row in rows}


def test_the_page_of_failures_shows_whatever_models_write_and_runs_none_of_it(
    tmp_path: Path,
) -> None:
    folder = runs(tmp_path / "runs", RESULTS)
    trace = folder / "work/Tiny_1/direct-0/exploration.ipynb"
    trace.parent.mkdir(parents=True)
    trace.write_text(json.dumps({}))

    write_report([folder], folder / "report", None, print)

    page = (folder / "report/failures.html").read_text()
    tags = Tags(page)
    assert "script" not in tags.names
    assert page.count("&lt;script&gt;alert(1)") == 2
    assert "../work/Tiny_1/direct-0/exploration.ipynb" in tags.links
    assert "the chain broke: KeyError" in page


def test_several_folders_make_one_report_with_their_names(tmp_path: Path) -> None:
    folders = [runs(tmp_path / name, [made(), failed(problem="b")]) for name in ("old", "new")]

    tables = write_report(folders, tmp_path / "report", None, print)

    assert "| direct (old) | 2 | 2 |" in tables
    assert "| direct (new) | 2 | 2 |" in tables


def test_two_versions_are_compared_with_an_interval(tmp_path: Path) -> None:
    old = runs(tmp_path / "old", [failed(problem=name) for name in "abcdef"])
    new = runs(tmp_path / "new", [made(problem=name) for name in "abcde"] + [failed(problem="f")])

    said = comparison(str(old), f"{new}:direct")

    assert "+83.3% [+50.0%, +100.0%]" in said
    assert "The interval leaves out no difference." in said
    assert "Better on 5: a, b, c, d, e." in said


def test_a_comparison_of_nothing_is_refused(tmp_path: Path) -> None:
    two = runs(tmp_path / "two", RESULTS)
    other = runs(tmp_path / "other", [made(problem="else")])

    for first, second, said in (
        (str(two), str(two), "has the methods direct, ours"),
        (f"{two}:direct", f"{two}:none", "has no runs of 'none'"),
        (f"{two}:direct", str(other), "no problem in common"),
        (str(tmp_path), str(two), "holds no runs"),
    ):
        with pytest.raises(InputError, match=said):
            comparison(first, second)
