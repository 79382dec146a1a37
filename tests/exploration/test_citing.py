"""The docs behind a solution, be it that the model was shown them or not."""

from __future__ import annotations

from pathlib import Path

from exploracoder import document

from .conftest import Explorer, Serve, model_words
from .scripted import SOLUTION, TeaModel, fenced

CONTEXT = "import tealeaf as tl\nrows = []\n"
KETTLE = "kettle = tl.Kettle()\n"
# Besides Kettle.pour: which of the two is meant, only a value says.
POT = '''
class Pot:
    """A pot."""

    def pour(self, leaf):
        """Pour out of the pot."""
'''


def paths(explore: Explorer) -> list[str]:
    solution = explore.exploration.solution
    assert solution is not None
    return [doc.path for doc in solution.final.docs]


def write(
    explore: Explorer, serve: Serve, own_library: Path, solution: str, context: str = CONTEXT
) -> None:
    """Has a solution written that nothing was looked up for."""
    package = own_library / "tealeaf"
    (package / "pot.py").write_text(POT, encoding="utf-8")
    with (package / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("from tealeaf.pot import Pot\n__all__ += ['Pot']\n")
    server = serve(TeaModel(solutions=[fenced(solution)]))
    files = explore.files(None, context, None)
    words = ("--library", package, *model_words(server), "--output", explore.notebook)
    explore.run("explore", "Pour it.", *words, *files, "--quiet", "--method", "direct")


def test_a_solution_from_memory_has_the_docs_of_what_it_uses(
    serve: Serve, explore: Explorer
) -> None:
    outcome = explore(serve(), "--method", "direct")

    names = ["Flow", "Flow.keep", "Leaf.name", "Leaf.strength", "read_leaves"]
    assert paths(explore) == [f"tealeaf.{name}" for name in names]
    assert "It uses tealeaf.Flow, tealeaf.Flow.keep, " in " ".join(outcome.out.split())
    solution = explore.exploration.solution
    assert solution is not None
    assert "lazy" in solution.final.docs[0].doc.lower()
    verdict = next(one for one in document.cells(explore.exploration) if one.id.endswith("verdict"))
    assert "Docs: `tealeaf.Flow` (tealeaf/flow.py:4) · " in verdict.source


def test_json_names_what_the_solution_uses(serve: Serve, explore: Explorer) -> None:
    outcome = explore(serve(), "--json")

    assert outcome.json["solution"] == SOLUTION
    assert outcome.json["apis"] == paths(explore)
    assert "tealeaf.read_leaves" in outcome.json["apis"]


def test_what_the_context_imports_and_has_says_what_is_meant(
    serve: Serve, explore: Explorer, own_library: Path
) -> None:
    write(
        explore, serve, own_library, "kettle.pour(tl.read_leaves('assam 5')[0])", CONTEXT + KETTLE
    )

    assert paths(explore) == ["tealeaf.Kettle.pour", "tealeaf.read_leaves"]


def test_a_list_appended_to_or_a_name_that_several_have_cites_nothing(
    serve: Serve, explore: Explorer, own_library: Path
) -> None:
    write(explore, serve, own_library, "rows.append(lambda pot: pot.pour)")

    assert paths(explore) == []


def test_a_solution_that_is_no_python_cites_nothing(
    serve: Serve, explore: Explorer, own_library: Path
) -> None:
    write(explore, serve, own_library, "tl.read_leaves(")

    assert paths(explore) == []
