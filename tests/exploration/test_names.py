"""The names in a snippet: which are missing, which APIs they mean, which do not exist."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from exploracoder.engine.reading import snippet_names
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder_kernel.sidecar import Sidecar
from exploracoder_retrieval.apidoc import ApiDoc, ApiKind


def api(path: str, kind: ApiKind = "function", *aliases: str) -> ApiDoc:
    return ApiDoc(path=path, kind=kind, library="tea", aliases=aliases)


KNOWN = KnownApis(
    [
        api("tea.brew"),
        api("tea.Flow", "class"),
        api("tea.Flow.keep", "method"),
        api("tea.Batcher", "class", ".batch"),
        api("tea.Kettle", "class"),
        api("tea.Kettle.heat", "method"),
        api("tea.Pan", "class"),
        api("tea.Pan.heat", "method"),
        api("tea.cold.mix"),
        api("tea.hot.mix"),
        api("tea.units.to_celsius", "function", "tea.to_celsius"),
    ]
)


def missing(code: str, *bound: str) -> tuple[str, ...]:
    return snippet_names.missing_imports(snippet_names.read(code, KNOWN), KNOWN, bound, ["tea"])


@pytest.mark.parametrize(
    ("code", "whole"),
    [
        ("tea.brew(1)", "import tea\ntea.brew(1)"),
        ("%%time\ntea.brew(1)", "%%time\nimport tea\ntea.brew(1)"),
        ("%matplotlib inline\ntea.brew(1)", "import tea\n%matplotlib inline\ntea.brew(1)"),
        (
            "'''A brew.'''\nfrom __future__ import annotations\ntea.brew(1)",
            "'''A brew.'''\nfrom __future__ import annotations\nimport tea\ntea.brew(1)",
        ),
    ],
)
def test_an_import_that_is_missing_stands_where_it_may(code: str, whole: str) -> None:
    assert snippet_names.with_imports(code, missing(code)) == whole
    assert snippet_names.with_imports(code, ()) == code


def test_what_code_before_it_has_imported_is_known() -> None:
    before = snippet_names.read("import tea as t\nfrom tea import Flow as F", KNOWN).imports
    flow_names = snippet_names.read("flow = F(t.brew(1))\nflow.keep(2)", KNOWN, before)
    shadowing_names = snippet_names.read("t = open('tea')\nt.brew(1)", KNOWN, before)

    assert snippet_names.apis_used(flow_names, KNOWN) == (
        "tea.Flow",
        "tea.Flow.keep",
        "tea.brew",
    )
    assert snippet_names.apis_used(shadowing_names, KNOWN) == ()


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("brew(1)", ("from tea import brew",)),
        ("tea.brew(1)", ("import tea",)),
        ("json.dumps(1)", ("import json",)),
        ("np.zeros(3)", ("import numpy as np",)),
        ("pd.DataFrame()", ("import pandas as pd",)),
        ("to_celsius(3)", ("from tea.units import to_celsius",)),
        ("mix(1)", ()),
        ("keep(1)", ()),
        ("unheard_of(1)", ()),
        ("print(len('x'), _, get_ipython())", ()),
        ("import json\njson.dumps(1)", ()),
        ("brew = 1\nprint(brew)", ()),
        ("brew(brew(1))", ("from tea import brew",)),
    ],
    ids=[
        "API",
        "library",
        "standard library",
        "numpy",
        "pandas",
        "nested module",
        "ambiguous",
        "method",
        "unknown",
        "builtins",
        "imported",
        "assigned",
        "twice",
    ],
)
def test_an_import_is_added_only_when_a_name_can_mean_one_thing(
    code: str, lines: tuple[str, ...]
) -> None:
    assert missing(code) == lines


@pytest.mark.parametrize(
    "code",
    [
        "[json for json in range(3)]",
        "{json: re for json, re in {}.items()}",
        "f = lambda json: json",
        "def f(json, *re, csv=1, **math): return json, re, csv, math",
        "for json in []: json",
        "with open('x') as json: json",
        "try: pass\nexcept Exception as json: json",
        "if (json := 1): json",
        "class json: pass\njson()",
        "async def json(): pass\njson()",
        "import os.path as json\njson.x",
        "from os import path as json\njson.x",
        "[brew] = [1]\nbrew",
        "match [1]:\n    case [1, *brew] | {'a': 1, **brew} | brew: print(brew)",
    ],
)
def test_what_a_snippet_binds_itself_is_not_imported(code: str) -> None:
    assert missing(code) == ()


def test_what_is_bound_already_is_not_imported() -> None:
    assert missing("brew(json)", "brew", "json") == ()


def apis(code: str, *docs: ApiDoc) -> tuple[str, ...]:
    return snippet_names.apis_used(snippet_names.read(code, KNOWN), KNOWN, docs)


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("import tea\ntea.brew(1)", ("tea.brew",)),
        ("import tea as t\nt.brew(1)", ("tea.brew",)),
        ("from tea import brew as b\nb(1)", ("tea.brew",)),
        ("from tea import brew", ()),
        ("from tea import brew\nbrew = brew(1)", ("tea.brew",)),
        ("import tea\ntea.to_celsius(1)", ("tea.units.to_celsius",)),
        ("pipe.batch(3)", ("tea.Batcher",)),
        ("pipe.keep(3)", ("tea.Flow.keep",)),
        ("thing.heat(3)", ()),
        ("from tea import Pan\nthing = Pan()\nthing.heat(3)", ("tea.Pan", "tea.Pan.heat")),
        ("import tea\ntea.unknown(1)", ()),
    ],
    ids=[
        "module",
        "module renamed",
        "function renamed",
        "imported only",
        "import bound again",
        "other import path",
        "functional form",
        "method of one class",
        "method of two",
        "type inferred",
        "unknown",
    ],
)
def test_the_apis_of_a_snippet_are_known_by_their_import_paths(
    code: str, used: tuple[str, ...]
) -> None:
    assert apis(code) == used


def test_of_two_methods_of_one_name_the_one_that_was_shown_counts() -> None:
    assert apis("thing.heat(3)", api("tea.Pan.heat", "method")) == ("tea.Pan.heat",)


def test_magics_do_not_keep_a_snippet_from_being_read() -> None:
    assert apis("%matplotlib inline\n!ls\nimport tea\ntea.brew(1)") == ("tea.brew",)


def test_a_snippet_that_is_no_python_has_no_names() -> None:
    assert snippet_names.read("x = (", KNOWN) == snippet_names.read("", KNOWN)


TEALEAF = KnownApis([api("tealeaf.Flow", "class"), api("tealeaf.Kettle", "class")])


@pytest.fixture
async def sidecar(library: Path) -> AsyncIterator[Sidecar]:
    """A sidecar in which the library has been imported and a kettle made."""
    async with Sidecar(cwd=library) as instance:
        observation = await instance.run(
            instance.root, "import tealeaf\npot = tealeaf.Kettle()\nheats = []"
        )
        assert observation.ran
        yield instance


async def problems(sidecar: Sidecar, code: str) -> dict[str, tuple[str, ...]]:
    findings = await snippet_names.problems(
        snippet_names.read(code, TEALEAF),
        functools.partial(sidecar.resolve, sidecar.root),
        ["tealeaf", "pot", "heats"],
        ["tealeaf"],
    )
    return {f"{one.owner}: {one.name}": one.nearest for one in findings}


async def test_names_that_exist_are_no_problems(sidecar: Sidecar) -> None:
    code = (
        "from tealeaf import Flow, leaves\nimport tealeaf.units\nimport os\n"
        "flow = Flow([]).keep(print)\npot.heat(90).celsius\nleaves.read_leaves('')\n"
        "os.nothing_of_ours\n[pot.pour(leaf) for leaf in heats]\ntealeaf.units.to_celsius(1)"
    )

    assert await problems(sidecar, code) == {}


async def test_a_function_that_a_module_lacks_is_told_with_the_nearest(sidecar: Sidecar) -> None:
    findings = await problems(sidecar, "tealeaf.read_leafs('')")

    assert "read_leaves" in findings["tealeaf: read_leafs"]


async def test_an_import_that_fails_is_told(sidecar: Sidecar) -> None:
    findings = await problems(sidecar, "from tealeaf import Kettel\nKettel()")

    assert "Kettle" in findings["tealeaf: Kettel"]


async def test_a_member_that_a_live_variable_lacks_is_told(sidecar: Sidecar) -> None:
    findings = await problems(sidecar, "pot.warm(90)\npot.heats(90)")

    assert any(key.endswith("Kettle: warm") for key in findings)
    assert "heat" in next(nearest for key, nearest in findings.items() if key.endswith(": heats"))


async def test_a_member_of_an_inferred_type_is_looked_up(sidecar: Sidecar) -> None:
    findings = await problems(sidecar, "flow = tealeaf.Flow([])\nflow.kept(print)")

    assert "keep" in next(nearest for key, nearest in findings.items() if key.endswith(": kept"))


@pytest.mark.parametrize(
    "other",
    [
        "for flow in heats:\n    flow.kept(print)",
        "with open('x') as flow:\n    flow.kept(print)",
        "[flow.kept(print) for flow in heats]",
        "(lambda flow: flow.kept(print))(pot)",
        "def flow(): pass\nflow.kept(print)",
        "flow = flow.keep(print)\nflow.kept(print)",
        "flow = pot if heats else flow\nflow.kept(print)",
        "flow = tealeaf.Kettle()\nflow.kept(print)",
    ],
)
async def test_a_name_that_is_bound_to_something_else_too_is_not_looked_up(
    sidecar: Sidecar, other: str
) -> None:
    assert await problems(sidecar, f"flow = tealeaf.Flow([])\n{other}") == {}
    assert await problems(sidecar, f"from tealeaf import Flow as flow\n{other}") == {}


async def test_a_variable_that_is_made_by_one_class_in_two_places_is_looked_up(
    sidecar: Sidecar,
) -> None:
    code = "if heats:\n    flow = tealeaf.Flow([])\nelse:\n    flow = tealeaf.Flow([1])"

    assert await problems(sidecar, f"{code}\nflow.kept(print)")


async def test_a_variable_that_the_snippet_binds_anew_is_not_looked_up(sidecar: Sidecar) -> None:
    assert await problems(sidecar, "pot = make()\npot.anything()") == {}
    assert await problems(sidecar, "for pot in heats:\n    pot.anything()") == {}
