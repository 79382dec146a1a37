"""Which problems may be looked at, and that no table mixes them with those that may not."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder_bench.datasets.problem_selection import of_split
from exploracoder_bench.datasets.problem_sets import open_problems
from exploracoder_bench.plan import read_plan
from exploracoder_bench.report.comparing import comparison
from exploracoder_bench.report.writing import write_report
from exploracoder_bench.splits import read_splits

from .made_results import made, plan, runs

RESULTS = Path(__file__).parents[2] / "benchmarks/results"


def splits(folder: Path, **problems: list[str]) -> None:
    """Write what a folder says of its problems."""
    groups = [
        {"split": split.replace("_", "-"), "why": "tea", "problems": names}
        for split, names in problems.items()
    ]
    (folder / "splits.json").write_text(json.dumps(groups))


def test_every_problem_with_a_result_in_the_repository_has_a_split() -> None:
    plans = [read_plan(file.parent) for file in RESULTS.rglob("plan.json")]
    # A renamed problem's is recorded with the run: its kit says it.
    splits = {name: split for one in plans if one for name, split in one.splits.items()}
    names = {name for one in plans if one for name in (*one.problems, *one.excluded)}
    known_splits = read_splits()

    assert len(names) > 100
    assert [name for name in names if name not in splits and known_splits.of(name) is None] == []


def test_names_are_found_however_a_data_set_spells_them() -> None:
    known_splits = read_splits()

    assert known_splits.of("BeatnumEval/0") == known_splits.of("BeatNumEval/0") == "seen"
    assert known_splits.of("Torchdata-Github/0") == known_splits.of("Torchdata_Github/0") == "seen"
    assert known_splits.of("compositionality-3-1") == "seen"
    assert known_splits.of("Tiny/0") is None


def test_a_problem_in_two_splits_is_refused(tmp_path: Path) -> None:
    splits(tmp_path, held_out=["PandasEval/2"])

    with pytest.raises(InputError, match="PandasEval/2 stands in two splits, held-out and seen"):
        read_splits(tmp_path)


def test_a_folder_says_of_its_own_problems_what_they_are(kit: Path) -> None:
    splits(kit, seen=["Tiny/*"], held_out=["Other/0"])

    problems = open_problems([str(kit)], lambda _: "python")

    assert {one.name for one in of_split(problems, "held-out")} == {"Other/0"}
    assert len(of_split(problems, "seen")) == 3
    with pytest.raises(InputError, match=r"No problem is left with --split seen\..*1 held out"):
        of_split(of_split(problems, "held-out"), "seen")


def test_a_problem_that_was_moved_cannot_be_added_to_earlier_runs(kit: Path) -> None:
    splits(kit, held_out=["Tiny/0"])
    earlier_plan = plan().with_splits(open_problems([str(kit)], lambda _: "python"))
    splits(kit, seen=["Tiny/0"])

    with pytest.raises(InputError, match=r"Tiny/0 was held-out when .* and is seen now"):
        earlier_plan.with_splits(open_problems([str(kit)], lambda _: "python"))


def test_a_report_says_which_split_it_is_of_and_mixes_none_unasked(tmp_path: Path) -> None:
    results = [made(problem="a"), made(problem="b"), made(problem="c")]
    folder = runs(tmp_path / "runs", results, splits={"a": "seen", "b": "held-out"})

    with pytest.raises(InputError, match=r"1 seen, 1 held out, 1 in no split\..*--split all"):
        write_report([folder], tmp_path / "report", None, print)

    one = write_report([folder], tmp_path / "report", None, print, split="held-out")
    assert one.startswith("Problems: 1 held out.")
    assert "| direct | 1 | 1 |" in one
    every = write_report([folder], tmp_path / "report", None, print, split="all")
    assert every.startswith("Problems: 1 seen, 1 held out, 1 in no split.")
    assert "| direct | 3 | 3 |" in every
    with pytest.raises(InputError, match="A table of both"):
        comparison(str(folder), str(folder))


def test_runs_before_and_after_a_problem_was_looked_at_are_not_one_report(tmp_path: Path) -> None:
    before = runs(tmp_path / "before", [made()], splits={"Tiny/0": "held-out"})
    after = runs(tmp_path / "after", [made()], splits={"Tiny/0": "seen"})

    with pytest.raises(InputError, match="Tiny/0 stands in two splits"):
        write_report([before, after], tmp_path / "report", None, print, split="all")


def test_the_ranker_learned_from_no_set_that_has_problems_to_solve() -> None:
    file = resources.files("exploracoder_retrieval") / "data" / "weights.json"

    assert json.loads(file.read_text(encoding="utf-8"))["sets"] == [
        "bigcodebench",
        "ds1000_numpy",
        "ds1000_pandas",
    ]
