from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from exploracoder.errors import InputError, SetupError
from exploracoder.models.model_cost import Price
from exploracoder_bench.metrics import is_pass
from exploracoder_bench.report.comparing import comparison
from exploracoder_bench.report.tables import (
    apart_table,
    at_k_table,
    chains_table,
    datasets_table,
    methods_table,
)
from exploracoder_bench.report.writing import write_report
from exploracoder_bench.results import RunResult
from html_tags import tags

from .made_results import apart, failed, made, provenance, runs

EVIL = "<script>alert(1)</script>"
CHAIN = {"explored": 3, "ran": 1, "broken_at": 2, "error": "KeyError", "apis": 2}
CHAIN |= {"recommended": ("tea.brew",)}
RESULTS = [
    made(),
    made(seed=1),
    failed(problem="Tiny/1", reason=EVIL, solution=f"x = '{EVIL}'", subtasks=3, chain=CHAIN),
    failed(problem="Tiny/1", seed=1, reason="=cmd()", ran=False),
    apart(problem="Tiny/2", reason="The disk | is\nfull."),
    made(method="ours", prompt_tokens=12_345),
    made(method="ours", problem="Tiny/1", subtasks=2),
]


def links(page: str) -> list[str | None]:
    return [attributes.get("href") for _, attributes in tags(page)]


def test_the_methods_stand_in_lines_and_what_does_not_count_stands_apart() -> None:
    lines = methods_table(RESULTS).splitlines()

    assert {line.count(" | ") for line in lines} == {lines[0].count(" | ")}
    assert lines[2].startswith("| direct | 2 | 4 | 50.0% [")
    assert lines[2].endswith("| 1,000 | 600 | 100 | 10.0 | 10.0 [10.0, 10.0] | ? | 1 |")
    assert lines[3].startswith("| ours | 2 | 2 | 100.0% [34.2%, 100.0%] |")


def test_second_data_have_a_column_where_some_problem_has_them() -> None:
    twice = [made(second_check=True), made(problem="Tiny/1", second_check=False)]

    heads, _, line, other = methods_table([*twice, made(method="ours")]).splitlines()

    assert "| pass@1 | with second data too | success@1 |" in heads
    assert line.startswith("| direct | 2 | 2 | 100.0% [34.2%, 100.0%] | 50.0% [")
    assert other.startswith("| ours | 1 | 1 | 100.0% [20.7%, 100.0%] | - |")
    assert "second data" not in methods_table(RESULTS)


def test_seconds_say_how_many_samples_ran_at_a_time() -> None:
    results = [made(jobs=8), made(seed=1, jobs=1), made(seed=2, jobs=2, cached_calls=1)]
    results += [made(method="ours", jobs=8, cached_calls=1)]

    lines = methods_table(results).splitlines()

    assert lines[0].endswith("| mean s | at a time | apart |")
    assert lines[2].endswith("| 10.0 | 10.0 | 1, 8 | 0 |")
    assert lines[3].endswith("| - | - | - | 0 |")


def test_a_k_of_which_a_method_has_too_few_samples_is_left_out() -> None:
    results = [made(seed=seed) for seed in range(3)] + [made(method="ours")]

    lines = at_k_table(results, "pass@k", is_pass).splitlines()

    assert lines[0] == "| pass@k | k = 1 | k = 3 |"
    assert lines[3].endswith("| - |")


def test_the_data_sets_stand_in_lines_and_the_methods_in_columns() -> None:
    lines = datasets_table([*RESULTS, failed(dataset="Other", problem="O/0")]).splitlines()

    assert lines[0] == "| pass@1 | direct | ours |"
    assert lines[2] == "| Other | 0.0% [0.0%, 79.3%] | - |"


def test_what_does_not_count_is_listed_with_whose_fault_it_is_in_one_line() -> None:
    assert apart_table([made()]) == ""
    assert apart_table(RESULTS).splitlines()[2:] == [
        "| Tiny/2 | direct-0 | harness | The disk \\| is full. |"
    ]


def test_a_report_has_tables_samples_pictures_and_says_what_was_left_out(tmp_path: Path) -> None:
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
    assert {row["subtasks_in_chain"] for row in rows} == {"0", "3"}
    assert {row["subtasks_ran"] for row in rows} == {"0", "1"}


def test_a_report_of_models_with_different_prices_has_no_money(tmp_path: Path) -> None:
    price = Price(prompt=1, completion=10)
    big, other = (runs(tmp_path / name, [made()], price=price) for name in ("big", "other"))
    small = runs(tmp_path / "small", [made()])

    same = write_report([big, other], tmp_path / "report", None, print)
    different = write_report([big, small], tmp_path / "report", None, print)
    named = write_report([big, small], tmp_path / "report", price, print)

    assert ["money in all" in text for text in (same, different, named)] == [True, False, True]


def test_a_report_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SetupError, match=r"^--out .*Not a directory"):
        write_report([runs(tmp_path / "runs", [made()])], tmp_path / "file/report", None, print)


def test_pictures_of_nothing_are_not_missed(tmp_path: Path) -> None:
    said: list[str] = []

    write_report([runs(tmp_path / "runs", [apart()])], tmp_path / "report", None, said.append)

    assert said == []


def test_a_report_says_which_samples_are_missing(tmp_path: Path) -> None:
    whole = runs(tmp_path / "whole", [made(), made(seed=1)])
    part = runs(tmp_path / "part", RESULTS)

    assert "not finished" not in write_report([whole], tmp_path / "report", None, print)
    tables = write_report([whole, part], tmp_path / "report", None, print)

    assert tables.partition("| not finished | ")[2].splitlines()[2:4] == [
        "| direct (part) | 4 | 6 | Tiny/2 |",
        "| ours (part) | 2 | 6 | Tiny/2 |",
    ]


def test_the_page_of_failures_shows_whatever_models_write_and_runs_none_of_it(
    tmp_path: Path,
) -> None:
    folder = runs(tmp_path / "runs", RESULTS)
    trace = folder / "work/Tiny_1/direct-0/exploration.ipynb"
    trace.parent.mkdir(parents=True)
    trace.write_text(json.dumps({}))

    write_report([folder], folder / "report", None, print)

    page = (folder / "report/failures.html").read_text()
    assert "script" not in {tag for tag, _ in tags(page)}
    assert page.count("&lt;script&gt;alert(1)") == 2
    assert "../work/Tiny_1/direct-0/exploration.ipynb" in links(page)
    assert "the chain broke: KeyError" in page


def test_a_method_without_a_chain_has_no_figures_of_one() -> None:
    results = [made(method="capir", subtasks=3), *RESULTS]

    lines = chains_table(results).splitlines()

    assert lines[2].startswith("| capir | - | - | - | - |")
    assert lines[3].startswith("| direct | 3.0 | 33.3% [6.9%, 86.2%] | 0.0% | 0.67 |")


def test_what_was_explored_and_what_came_of_it_stand_beside_what_was_solved() -> None:
    at_once = made(method="exploration", explored_steps=0, looks=1)
    fields = {"method": "exploration", "explored_steps": 2, "came_of_exploring": True}
    results = [at_once, made(seed=1, **fields), failed(seed=2, **fields), made(problem="b")]
    results.append(made(method="earlier"))

    head, _, *lines = chains_table(results).splitlines()

    columns = [
        head.split(" | ").index(name) for name in ("explored", "solved", "solved by exploring")
    ]
    cells = [[line.split(" | ")[column] for column in columns] for line in lines]
    assert cells == [["2 of 3", "2", "1"], ["-", "1", "-"], ["-", "1", "-"]]


def test_a_line_of_an_earlier_version_does_not_say_what_was_explored() -> None:
    old = made().model_dump(exclude={"explored_steps", "looks", "came_of_exploring"})

    result = RunResult.model_validate(old)

    assert (result.explored_steps, result.looks, result.is_solved_by_exploring) == (
        None,
        None,
        False,
    )


def test_only_chains_are_drawn_where_they_break(tmp_path: Path) -> None:
    plan_folder = runs(tmp_path / "planned", [made(method="capir", subtasks=3)])
    exploration_folder = runs(tmp_path / "explored", RESULTS)

    for folder, has_picture in ((plan_folder, False), (exploration_folder, True)):
        write_report([folder], folder / "report", None, print)

        assert (folder / "report/breaks.svg").exists() == has_picture
    assert "capir" not in (exploration_folder / "report/breaks.svg").read_text()


def test_several_folders_make_one_report_with_their_names(tmp_path: Path) -> None:
    folders = [runs(tmp_path / name, [made(), failed(problem="b")]) for name in ("old", "new")]

    tables = write_report(folders, tmp_path / "report", None, print)

    assert "| direct (old) | 2 | 2 |" in tables
    assert "| direct (new) | 2 | 2 |" in tables


def test_folders_of_one_name_are_told_apart_by_those_above_them(tmp_path: Path) -> None:
    right = runs(tmp_path / "modelA/runs", [made()])
    wrong = runs(tmp_path / "modelB/runs", [failed(reason="no tea")])
    for folder in (right, wrong):
        trace = folder / "work/Tiny_0/direct-0/exploration.ipynb"
        trace.parent.mkdir(parents=True)
        trace.write_text("{}")

    tables = write_report([right, wrong], tmp_path / "report", None, print)

    assert "| direct (modelA/runs) | 1 | 1 | 100.0%" in tables
    assert "| direct (modelB/runs) | 1 | 1 | 0.0%" in tables
    page = (tmp_path / "report/failures.html").read_text()
    assert "../modelB/runs/work/Tiny_0/direct-0/exploration.ipynb" in links(page)
    text = comparison(str(right), str(wrong))
    assert "| direct (tea, modelA/runs) |" in text
    with pytest.raises(InputError, match="is named twice"):
        write_report([right, right], tmp_path / "report", None, print)


def test_a_report_says_how_its_samples_were_made(tmp_path: Path) -> None:
    more = {"checks": "hidden", "also_with": ("ExploraCoder 9, Python 4",)}
    folder = runs(tmp_path / "runs", [made(checked=3), made(seed=1, checked=0)], **more)

    tables = write_report([folder], tmp_path / "report", None, print)

    text = (tmp_path / "report/report.md").read_text()
    assert "checks: hidden" in text
    assert "gone on with ExploraCoder 9, Python 4" in text
    heads, _, line = tables.splitlines()[2:5]
    column = heads.split(" | ").index("checked texts")
    assert line.split(" | ")[column] == "1.5"
    assert "| differs |" not in text


def test_what_an_earlier_version_ran_says_nothing_of_checked_texts() -> None:
    heads, _, line = methods_table([made(checked=None)]).splitlines()

    assert line.split(" | ")[heads.split(" | ").index("checked texts")] == "-"


HOW: dict[str, tuple[object, str]] = {
    "checks": ("hidden", "checks"),
    "options": (("--set=samples=1",), "options"),
    "timeout_s": (5.0, "seconds for a sample"),
    "version": ("0.0.9", "ExploraCoder"),
    "python": ("3.0", "Python"),
    "provenance": (provenance(sandbox="off"), "sandbox"),
    "also_with": (("ExploraCoder 9, Python 4",), "gone on with"),
    "identity": ("1" * 64, "model"),
    "problems": ({"Tiny/0": "other"}, "problem Tiny/0"),
}


@pytest.mark.parametrize("field", HOW)
def test_two_runs_that_were_not_made_alike_are_said_to_differ(tmp_path: Path, field: str) -> None:
    value, label = HOW[field]
    old = runs(tmp_path / "old", [made()])
    new = runs(tmp_path / "new", [made()], **{field: value})

    comparison_text = comparison(str(old), str(new))
    report_text = write_report([old, new], tmp_path / "report", None, print)

    for text in (comparison_text, report_text):
        (head,) = [line for line in text.splitlines() if line.startswith("| differs |")]
        assert head == "| differs | old | new |"
        rows = text[text.index(head) :].split("\n\n")[0].splitlines()[2:]
        assert [row.split(" | ")[0] for row in rows] == [f"| {label}"]


def test_runs_that_were_made_alike_do_not_differ(tmp_path: Path) -> None:
    old, new = (runs(tmp_path / name, [made()]) for name in ("old", "new"))
    both = runs(tmp_path / "both", [made(), made(method="ours")], checks="hidden")

    assert "differs" not in comparison(str(old), str(new))
    assert "differs" not in comparison(f"{both}:direct", f"{both}:ours")


def test_the_excluded_of_several_folders_are_told_apart(tmp_path: Path) -> None:
    old = runs(tmp_path / "old", [made()], excluded={"Bad/0": "KeyError"})
    new = runs(tmp_path / "new", [made()], excluded={"Bad/0": "TypeError"})

    tables = write_report([old, new], tmp_path / "report", None, print)

    assert "| Bad/0 (old) | KeyError |" in tables
    assert "| Bad/0 (new) | TypeError |" in tables


def test_two_versions_are_compared_with_an_interval(tmp_path: Path) -> None:
    old = runs(tmp_path / "old", [failed(problem=name) for name in "abcdefg"])
    new = runs(tmp_path / "new", [made(problem=name) for name in "abcdef"] + [failed(problem="g")])

    text = comparison(str(old), f"{new}:direct")

    assert "+85.7% [+57.1%, +100.0%]" in text
    assert "better on 6 and worse on 0 problems comes by chance with p = 0.031" in text
    assert "That is more than chance" in text
    assert "Better on 6: a, b, c, d, e, f." in text


def test_a_difference_on_one_problem_is_said_to_be_perhaps_chance(tmp_path: Path) -> None:
    old, new = runs(tmp_path / "old", [failed()]), runs(tmp_path / "new", [made()])

    text = comparison(str(old), str(new))

    assert "+100.0% [-58.7%, +100.0%]" in text
    assert "That may be chance" in text


def test_a_comparison_of_nothing_is_refused(tmp_path: Path) -> None:
    two = runs(tmp_path / "two", RESULTS)
    other = runs(tmp_path / "other", [made(problem="else")])

    for first, second, message in (
        (str(two), str(two), "has the methods direct, ours"),
        (f"{two}:direct", f"{two}:none", "has no runs of 'none'"),
        (f"{two}:direct", str(other), "no problem in common"),
        (str(tmp_path), str(two), "holds no runs"),
    ):
        with pytest.raises(InputError, match=message):
            comparison(first, second)
