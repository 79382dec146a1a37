"""Problems made anew out of known ones, on a library of the standard library's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner
from exploracoder_bench.cli import bench
from exploracoder_bench.datasets.exec_kit import read_kit
from exploracoder_bench.datasets.invented_names import Inventor, is_english, parts_of
from exploracoder_bench.datasets.renamed import invent

SOLVED = {
    "id": "Near/0",
    "dataset": "Near",
    "library": "fractions",
    "kind": "function",
    "prompt": "import fractions\n\n\ndef near(number):\n    # By Fraction.limit_denominator().\n",
    "context": "import fractions\n\n\n",
    "requirement": "What does `limit_denominator` say? Fractions of numbers.",
    "test": "assert near(0.333).numerator == 1, 'fractions.Fraction'\n"
    "assert near(0.2) == fractions.Fraction(1, 5)\nassert '0.5'.replace('.', '') == '05'\n",
    "entry_point": "near",
    "canonical_solution": ["    return fractions.Fraction(number).limit_denominator(9)"],
}
WRONG = SOLVED | {"id": "Near/1", "canonical_solution": ["    return fractions.no_such(number)"]}


def test_the_same_seed_gives_the_same_names_and_no_two_are_alike() -> None:
    names = ["groupby", "sort_values", "DataFrame", "iloc", "T", "cumsum", "cum_sum", "NA"]

    first, again, other = (Inventor(seed, "tea").rename(names) for seed in (1, 1, 2))

    assert first == again != other
    assert set(first) == {*names} - {"T"}
    assert len({*first.values()} - {*names}) == len(first)
    assert first["DataFrame"][0].isupper() and "_" not in first["DataFrame"]
    assert (parts_of("groupby"), parts_of("zymurgy")) == (("group", "by"), ())
    assert (is_english("mean"), is_english("groupby"), is_english("iloc")) == (True, False, False)


def test_problems_are_made_anew_and_what_does_not_pass_is_left_out(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "dev").mkdir(parents=True)
    rows = "".join(json.dumps(row) + "\n" for row in (SOLVED, WRONG))
    (old / "dev/Near.jsonl").write_text(rows)
    held_out = [{"split": "held-out", "why": "tea", "problems": ["Near/0"]}]
    (old / "splits.json").write_text(json.dumps(held_out))
    words = ["renamed", str(new), "--library", "fractions", "--seed", "3", "--problems", str(old)]

    result = CliRunner().invoke(bench, [*words, "--pythons", sys.executable])

    assert result.exception is None, result.output
    assert f"1 of 2 problems are in {new}." in result.output
    assert "left out: Near/1: It does not run as it is: AttributeError" in result.output
    recipe = invent("fractions", 3, sys.executable)
    (problem,) = read_kit(new, lambda libraries: ",".join(libraries))
    assert (problem.name, problem.python) == (f"Near/0@{recipe.library}", "fractions")
    assert problem.libraries == (recipe.library,)
    limit, fraction = recipe.names["limit_denominator"], recipe.names["Fraction"]
    call = f"return {recipe.library}.{fraction}(number).{limit}(9)"
    assert call in problem.solution
    assert f"What does `{limit}` say? {recipe.library.capitalize()} of numbers." in problem.task
    assert f"# By {fraction}.{limit}()." in problem.task
    assert "'fractions.Fraction'" in problem.check, "a text stays as it is"
    assert "'0.5'.replace(" in problem.check, "what is Python's own stays, too"
    assert json.loads((new / "splits.json").read_text())[0]["problems"] == [problem.name]
    stubs = (new / f"private/{recipe.library}/__init__.pyi").read_text()
    assert f"def {limit}(" in stubs
    assert "limit_denominator" not in stubs
    # The old names are hidden from the program that has the new ones.
    for name, code in ((limit, 0), ("limit_denominator", 1)):
        program = f"import {recipe.library} as lib; lib.{fraction}(1, 3).{name}"
        environment = {"PYTHONPATH": str(new / "private")}
        ran = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=False
        )
        assert ran.returncode == code
