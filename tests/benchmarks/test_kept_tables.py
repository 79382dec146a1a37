"""Tables of pages, drawn from results that are kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from exploracoder.errors import InputError
from exploracoder_bench.cli import bench
from exploracoder_bench.report.kept_tables import draw_table
from exploracoder_bench.report.marked import redraw

from .made_results import failed, made, runs

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results"
PAGES = tuple(
    ROOT / page
    for page in ("README.md", "docs/evidence.md", "docs/api-use.md", "benchmarks/results/README.md")
)
PAGE = "# Tea\n\n<!-- table: exploracoder bench table tea -->\n| old |\n<!-- end -->\nMore.\n"
COLUMNS = ("solved", "executed", "pass@1", "calls", "calls, median", "completion tokens per solved")


def tables(*words: str) -> Result:
    return CliRunner().invoke(bench, ["tables", *words], standalone_mode=False)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Kept results with one table, of three samples and one that does not go into it."""
    samples = [made(calls=1), failed(problem="Tiny/1", calls=4), made(problem="a", calls=2)]
    samples += [made(problem="a", seed=1, calls=100), made(method="ours", explored_steps=1)]
    runs(tmp_path / "kept/tea", samples, splits={"Tiny/0": "seen", "a": "held-out"})
    row = {"name": "`direct`", "folder": "tea", "method": "direct", "seeds": [0]}
    columns = [{"title": name, "figure": name} for name in COLUMNS]
    columns.append({"title": "tiny", "figure": "solved", "of": ["Tiny/*"]})
    ours = {"name": "ours", "folder": "tea", "method": "ours", "says": {"as": "told"}}
    exploring = {"title": "explored", "figure": "explored / solved by exploring"}
    about = {
        "tea": {"title": "method", "columns": columns, "rows": [row]},
        "ours": {"title": "", "columns": [exploring, {"title": "as"}], "rows": [ours]},
        "wrong": {"title": "", "columns": [{"title": "", "figure": "taste"}], "rows": [row]},
        "none": {"title": "", "columns": columns, "rows": [row | {"method": "no"}]},
        "empty": {"title": "", "columns": [columns[-1] | {"of": ["Soup/*"]}], "rows": [row]},
    }
    (tmp_path / "kept/tables.json").write_text(json.dumps(about))
    return tmp_path / "kept"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_tables_of_the_pages_are_what_their_results_say(page: Path) -> None:
    result = tables(str(page), "--results", str(RESULTS), "--check")

    assert result.return_value == 0, result.output
    assert "<!-- table: " in page.read_text()


@pytest.mark.parametrize(
    "file", sorted(RESULTS.rglob("*.json*")), ids=lambda file: str(file.relative_to(RESULTS))
)
def test_kept_results_name_no_place_on_the_machine_that_made_them(file: Path) -> None:
    assert re.findall(r"/(?:root|home|tmp|work|opt|Users)/[^\s\"')]*", file.read_text()) == []


def test_the_readme_has_no_table_without_results() -> None:
    bare = redraw(PAGES[0].read_text(), lambda name: "")

    assert re.findall(r"^\|.*", bare, re.MULTILINE) == []


def test_a_table_has_the_figures_of_its_samples_and_says_of_what_they_are(results: Path) -> None:
    head, _, line, _, about = draw_table(results, "tea").splitlines()

    assert head == f"| method | {' | '.join(COLUMNS)} | tiny |"
    assert line == "| `direct` | 2 of 3 | 3 of 3 | 67 % [0, 100] | 2.3 | 2 | 150 | 1 of 2 |"
    assert about == "Problems: 1 seen, 1 held out, 1 in no split. Code: files 0000000."
    assert "| ours | 1 / 0 | told |" in draw_table(results, "ours")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no", "has no table 'no': tea"),
        ("wrong", "There is no figure 'taste'"),
        ("none", "has no samples of 'no'"),
        ("empty", "There is no sample for the figure 'solved'"),
    ],
)
def test_a_table_that_cannot_be_drawn_is_refused(results: Path, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        draw_table(results, name)


def test_a_stale_table_is_told_of_and_drawn_anew_and_nothing_else_is(results: Path) -> None:
    page = results / "page.md"
    page.write_text(PAGE)

    result = tables(str(page), "--results", str(results), "--check")

    assert result.return_value == 1
    assert "the table tea is not what its results say" in result.output
    assert page.read_text() == PAGE
    assert tables(str(page), "--results", str(results)).return_value == 0
    text = page.read_text()
    assert text.startswith("# Tea\n") and text.endswith("<!-- end -->\nMore.\n")
    assert draw_table(results, "tea") in text
    assert tables(str(page), "--results", str(results), "--check").return_value == 0
