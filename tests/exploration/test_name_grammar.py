"""Code that is bound to names which exist."""

from __future__ import annotations

from exploracoder.engine.reading.name_grammar import grammar_of, names_of
from exploracoder_retrieval.apidoc import ApiDoc

DOCS = [
    ApiDoc(library="tealeaf", path="tealeaf.flow.Flow.keep", kind="method", aliases=(".sieve",)),
    ApiDoc(library="tealeaf", path="tealeaf.read_leaves", kind="function"),
]


def test_the_names_are_those_of_the_libraries_of_python_and_of_the_task() -> None:
    names = names_of(DOCS, ["text.steep(3)", "naïve.über"])

    assert {"keep", "sieve", "Flow", "flow", "read_leaves", "tealeaf", "steep"} <= names
    assert {"split", "append", "items", "path", "loads", "defaultdict"} <= names
    assert not {"brew_all", "head", "naïve", "über"} & names


def test_names_stand_in_a_tree_of_their_beginnings() -> None:
    paths = ("zzt", "zztea", "zzteam", "zzto")
    docs = [ApiDoc(library="zzt", path=path, kind="function") for path in paths]

    assert '"zt" ("ea" ("m")? | "o")?' in grammar_of(docs, [])
