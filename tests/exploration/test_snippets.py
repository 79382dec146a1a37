"""What a model wrote, before it is run: repetitions and unfinished ends are taken off."""

from __future__ import annotations

import ast

import pytest
from exploracoder.engine.reading import snippet_names
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder.engine.reading.syntax import replaced, whole_statements, without_repetition

from .conftest import Explorer, Serve
from .scripted import READ, TeaModel, fenced

EARLIER = [
    "import tealeaf\nleaves = tealeaf.read_leaves(\n    text\n)",
    "@cached\ndef f():\n  pass",
]


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("import tealeaf\nkept = 1", "kept = 1"),
        ("kept = 1\nimport tealeaf\nnames = 2", "kept = 1\nnames = 2"),
        ("kept = 1\nleaves = tealeaf.read_leaves(text)", None),
        ("leaves = tealeaf.read_leaves(text)\n@cached\ndef f():\n  pass\nkept = 1", "kept = 1"),
        ("import tealeaf; kept = 1", "import tealeaf; kept = 1"),
        ("@cached\ndef f():\n  pass\nkept = 1", "kept = 1"),
        ("# why\nkept = 1", "# why\nkept = 1"),
        (
            "import tealeaf\nleaves = tealeaf.read_leaves(text)",
            "leaves = tealeaf.read_leaves(text)",
        ),
        ("import tealeaf\nkept = (", None),
    ],
    ids=[
        *("head", "middle", "end", "all anew", "one line", "decorated", "nothing"),
        *("part of it", "broken"),
    ],
)
def test_statements_that_have_run_already_are_taken_out(code: str, left: str | None) -> None:
    assert without_repetition(code, EARLIER) == (code if left is None else left)


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\f", "\x1c"])
def test_lines_are_counted_as_python_counts_them(mark: str) -> None:
    code = f"word = 'a{mark}b'\nimport tealeaf\nkept = brew(1)"
    row = ast.parse(code).body[-1].lineno

    assert without_repetition(code, EARLIER) == f"word = 'a{mark}b'\nkept = brew(1)"
    assert replaced(code, row, 7, 11, "steep") == code.replace("brew", "steep")
    assert whole_statements(f"{code}\nnames = [") == code
    assert snippet_names.read(code, KnownApis(())).imports == {"tealeaf": "tealeaf"}


@pytest.mark.parametrize(
    ("earlier", "code", "left"),
    [
        ("rows = t.rows()\nprint(rows)", "print(rows)\nn = 1", None),
        ("m = 1\nt.insert('a')", "t.insert('a')\nn = 1", None),
        ("t.insert('a')", "t.insert('a')\nn = 1", "n = 1"),
        ("import random\nrandom.seed(0)", "import random\nrandom.seed(0)", None),
        ("t = T()\nt.insert('a')", "t = T()\nn = 1", None),
        ("t = T()\nprint(t.rows())", "t = T()\nn = 1", None),
        ("t = T()\nprint(t)", "t = T()\nn = 1", "n = 1"),
        ("", "row = next(t)\nprint(row)\nrow = next(t)", None),
        ("row = next(t)\nm = 1", "row = next(t)\nn = 1", None),
        ("m = 1\nm.grow()\nn = 1", "n = 1\nk = 1", "k = 1"),
        ("n = 1\ndef f():\n    global n\n    n = 2\nf()", "n = 1\nk = 1", None),
        ("n = f(t)\nt.insert('a')", "n = f(t)\nm = 1", None),
        ("n = f(t)\nt['a'] = 1", "n = f(t)\nm = 1", None),
        ("n = f(t)\nt.a = 1", "n = f(t)\nm = 1", None),
        ("n = f(t)\ndel t", "n = f(t)\nm = 1", None),
        ("n = 1\nn += 1", "n += 1\nm = 1", None),
        ("n = 1\nn = n + 1", "n = n + 1\nm = 1", None),
        ("n = 1\nfor n in t: pass", "n = 1\nm = 1", None),
        (
            "def f(): return 1",
            "def f(): return 1\nf = g(f)\ndef f(): return 1",
            "f = g(f)\ndef f(): return 1",
        ),
        ("t = T()\nn = t.size()", "t = T()\nn = t.size()\nm = 1", "m = 1"),
    ],
)
def test_what_ran_stays_where_it_may_do_something_else_now(
    earlier: str, code: str, left: str | None
) -> None:
    assert without_repetition(code, [earlier]) == (code if left is None else left)


@pytest.mark.parametrize(
    ("code", "whole"),
    [
        ("leaves = 1\nkept = [", "leaves = 1"),
        ("leaves = 1\nfor leaf in leaves:\n    print(leaf)\n    kept = keep(", None),
        ("leaves = 1\nkept = 2", "leaves = 1\nkept = 2"),
        ("kept = [", "kept = ["),
    ],
    ids=["statement", "block", "whole", "nothing whole"],
)
def test_an_unfinished_end_is_cut_off(code: str, whole: str | None) -> None:
    cut = whole_statements(code)

    assert code.startswith(cut)
    assert cut == whole or (whole is None and len(ast.parse(cut).body) == 2)


def test_a_reply_that_was_cut_off_is_run_up_to_its_last_whole_statement(
    serve: Serve, explore: Explorer
) -> None:
    cut = f"```python\n{READ}\nkept = list(tealeaf.Flow(lea"
    server = serve(TeaModel(goals=["Read them"], drafts={1: [cut]}), finish_reason="length")
    explore(server, "--profile", "small", "--set", "first-tries=0", check=None)

    assert explore.exploration.steps[0].candidates[0].code == READ


@pytest.mark.parametrize("first", ["from __future__ import annotations", "%%time"])
def test_an_import_is_added_after_what_has_to_stay_first(
    serve: Serve, explore: Explorer, first: str
) -> None:
    draft = f"{first}\nleaves = tealeaf.read_leaves(text)"
    server = serve(TeaModel(goals=["Read them"], drafts={1: [fenced(draft)]}))
    explore(server, "--profile", "small", "--set", "first-tries=0", check=None)
    candidate = explore.exploration.steps[0].candidates[0]

    assert candidate.code == f"{first}\nimport tealeaf\nleaves = tealeaf.read_leaves(text)"
    assert candidate.ran


def test_an_attribute_found_missing_at_run_time_is_reported_with_real_ones(
    serve: Serve, explore: Explorer
) -> None:
    code = "import tealeaf\nkettles = [tealeaf.Kettle()]\nfor one in kettles:\n    one.heatt(90)"
    server = serve(TeaModel(goals=["Heat a kettle"], drafts={1: [fenced(code)]}))
    explore(
        server,
        "--profile",
        "small",
        "--set",
        "first-tries=0",
        "--set",
        "repair-names=false",
        check=None,
    )
    problems = explore.exploration.steps[0].candidates[0].problems
    messages = [request.last_user_message for request in server.chat_requests]

    assert [(one.owner, one.name) for one in problems] == [("tealeaf.Kettle", "heatt")]
    assert "heat" in problems[0].nearest
    assert any("Kettle has no 'heatt'; it has heat" in text for text in messages)


def test_an_attribute_missing_on_a_foreign_type_names_no_api(
    serve: Serve, explore: Explorer
) -> None:
    code = "words = ['tea']\nfor one in words:\n    one.heatt(90)"
    server = serve(TeaModel(goals=["Heat a kettle"], drafts={1: [fenced(code)]}))
    explore(server, "--profile", "small", "--set", "first-tries=0", check=None)

    assert explore.exploration.steps[0].candidates[0].problems == ()
