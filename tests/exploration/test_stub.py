"""Unfinished code: found in a task or a context, and completed by a model's answer."""

from __future__ import annotations

import ast
import textwrap

import pytest
from exploracoder.engine.reading import stub

HEAD = '''\
def strong(leaves: list[str], least: int = 3) -> list[str]:
    """The strong ones."""
'''


def dedent(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def run(code: str) -> dict[str, object]:
    """The names that a piece of code leaves."""
    space: dict[str, object] = {}
    exec(code, space)
    return space


def test_a_head_with_lost_defaults_is_put_back() -> None:
    body = "    kept = leaves[:least]  # keep\n    return kept"
    answer = f"import os\n\ndef strong(leaves, least):\n{body}"
    code = stub.complete(answer, HEAD)

    assert "def strong(leaves: list[str], least: int=3) -> list[str]:" in code
    assert code.startswith("import os\n")
    assert body in code
    assert run(code)["strong"]("abcde") == "abc"  # type: ignore[operator]


def test_a_head_that_is_right_is_left_alone() -> None:
    answer = f"{HEAD}    return leaves\n"

    assert stub.complete(answer, HEAD) == answer


def test_what_stands_between_a_head_and_its_first_statement_stays() -> None:
    body = (
        "    # Each leaf once.\n\n    @functools.cache\n    def key(leaf):\n        return leaf\n"
        "    return sorted(leaves, key=key)[:least]"
    )
    head = "def strong(\n    leaves,  # all\n    # how many\n    least,\n):"
    answer = f"import functools\n\n{head}\n{body}"
    code = stub.complete(answer, HEAD)

    assert code.endswith(f"least: int=3) -> list[str]:\n{body}")
    assert run(code)["strong"]("bcade") == ["a", "b", "c"]  # type: ignore[operator]


@pytest.mark.parametrize("head", ["def strong(leaves, least):", "def strong(\n  leaves, least\n):"])
def test_a_function_whose_body_is_in_its_head_s_line_gets_its_head_back(head: str) -> None:
    code = stub.complete(f"{head} return leaves[:least]", HEAD)

    assert run(code)["strong"]("abcde") == "abc"  # type: ignore[operator]


def test_a_decorated_function_is_still_python_with_its_head_put_back() -> None:
    answer = "import functools\n\n@functools.cache\ndef strong(leaves, least):\n    return leaves"
    code = stub.complete(answer, HEAD)

    assert run(code)["strong"]("abc") == "abc"  # type: ignore[operator]


def test_an_async_function_stays_async() -> None:
    code = stub.complete("async def brew(leaf):\n    return leaf", "async def brew(leaf='assam'):")
    tree = ast.parse(code)

    assert isinstance(tree.body[0], ast.AsyncFunctionDef)
    assert "'assam'" in code


def test_a_bare_expression_becomes_the_right_side() -> None:
    assert stub.complete("sorted(leaves)", "names =") == "names = sorted(leaves)"


@pytest.mark.parametrize("target", ["first, last", "frame.loc[frame['x'] == 1, 'y']", "leaves[1:]"])
def test_a_target_of_several_names_or_places_gets_its_right_side(target: str) -> None:
    assert stub.in_task(f"Sort the leaves.\n{target} =", None) == f"{target} ="
    assert stub.complete("sorted(leaves)", f"{target} =") == f"{target} = sorted(leaves)"


def test_what_is_said_above_a_bare_expression_stays_above() -> None:
    code = stub.complete("# All,\n\n# sorted\n(leaves\n .sort())  # in place", "names =")

    assert code == "# All,\n\n# sorted\nnames = (leaves\n .sort())  # in place"


def test_an_annotated_target_gets_its_right_side() -> None:
    assert stub.in_context("x = 1\nnames: list[str] =").stub == "names: list[str] ="
    assert stub.complete("sorted(leaves)", "names: list =") == "names: list = sorted(leaves)"
    assert stub.in_task("Sort the leaves.\nResult: names =", None) == ""


def test_an_assignment_that_is_there_is_not_doubled() -> None:
    assert stub.complete("names = sorted(leaves)", "names =") == "names = sorted(leaves)"


def test_several_lines_for_an_assignment_are_left_alone() -> None:
    answer = "import os\nnames = os.listdir()"

    assert stub.complete(answer, "names =") == answer


def test_a_bare_body_goes_under_the_head() -> None:
    code = stub.complete("kept = leaves[:least]\nreturn kept", HEAD)

    assert run(code)["strong"]("abcde") == "abc"  # type: ignore[operator]


def test_an_indented_body_goes_under_the_head() -> None:
    code = stub.complete("    kept = leaves[:least]\n    return kept", HEAD)

    assert run(code)["strong"]("abcde") == "abc"  # type: ignore[operator]


@pytest.mark.parametrize("indent", ["", "    ", "  "])
def test_strings_of_several_lines_stay_as_they_are_under_the_head(indent: str) -> None:
    head = "def strong(leaves):\n"
    body = f'{indent}text = """a\n  b\n      c"""\n{indent}return text'
    code = stub.complete(body, head)

    assert run(code)["strong"]([]) == "a\n  b\n      c"  # type: ignore[operator]


@pytest.mark.parametrize("answer", ["def other(x):\n    return x", "this is no Python at all ("])
def test_an_answer_that_does_not_fit_is_left_alone(answer: str) -> None:
    assert stub.complete(answer, HEAD) == answer


def test_without_a_stub_nothing_is_done() -> None:
    assert stub.complete("print(1)", "") == "print(1)"


@pytest.mark.parametrize(
    ("context", "text", "unfinished"),
    [
        ("x = 1\ny = 2", "x = 1\ny = 2", ""),
        ("x = 1\nresult =", "x = 1", "result ="),
        ("x = 1\nframe['a'] = ", "x = 1", "frame['a'] ="),
        ("x = 1\nfirst, last =", "x = 1", "first, last ="),
        ("x = 1\nframe.loc[0, 'a'] =", "x = 1", "frame.loc[0, 'a'] ="),
        ("x = 1\n\ndef brew(leaf):\n", "x = 1\n", "def brew(leaf):"),
        (
            "import os\n\n@decorated\ndef brew(leaf):\n    # make tea",
            "import os\n",
            "@decorated\ndef brew(leaf):\n    # make tea",
        ),
        ("x = 1\nasync def brew(leaf):\n", "x = 1", "async def brew(leaf):"),
        ("x = (1\ny = 2", "x = (1\ny = 2", ""),
        ("", "", ""),
    ],
    ids=[
        "finished",
        "assignment",
        "item",
        "several",
        "located",
        "function",
        "decorated",
        "async",
        "broken",
        "empty",
    ],
)
def test_the_unfinished_end_of_a_context_is_told_apart(
    context: str, text: str, unfinished: str
) -> None:
    split = stub.in_context(context)

    assert split.text.strip() == text.strip()
    assert split.stub.strip() == unfinished


def test_a_fenced_function_head_is_found_in_a_task() -> None:
    task = f"Complete this function.\n\n```python\n{HEAD}```\nThank you."

    assert stub.in_task(task, None) == HEAD.rstrip()


def test_a_function_head_at_the_end_of_a_task_is_found() -> None:
    assert stub.in_task(f"Complete this.\n\n{HEAD}", "strong") == HEAD.rstrip()


def test_an_assignment_at_the_end_of_a_task_is_found() -> None:
    assert stub.in_task("Sort the leaves.\nnames =", None) == "names ="


def test_a_head_of_another_name_than_the_entry_point_is_no_stub() -> None:
    assert stub.in_task(f"Like this one:\n```python\n{HEAD}```", "weak") == ""


@pytest.mark.parametrize("task", ["Sort the leaves.", "Is a = b true?", "An example: f(x)\n"])
def test_a_task_in_words_has_no_stub(task: str) -> None:
    assert stub.in_task(task, None) == ""


def test_a_task_without_its_stub_says_what_the_stub_says() -> None:
    task = f"Complete this function.\n\n```python\n{HEAD}```"
    words = stub.without_stub(task, HEAD.rstrip())

    assert "def strong" not in words
    assert "```" not in words
    assert "Complete this function." in words
    assert "The strong ones." in words


def test_a_task_that_is_only_an_assignment_is_not_emptied() -> None:
    assert stub.without_stub("names =", "names =") == "names ="


@pytest.mark.parametrize(
    ("unfinished", "name"),
    [(HEAD, "strong"), ("def a(): return 1\ndef b():", "b"), ("names =", None), ("", None)],
)
def test_the_name_of_the_function_to_write_is_the_last_one(
    unfinished: str, name: str | None
) -> None:
    assert stub.function_name(unfinished) == name


@pytest.mark.parametrize(
    ("unfinished", "target"),
    [
        ("names =", "names"),
        ("a = 1\nframe['x'] = ", "frame['x']"),
        ("self.leaf =", "self.leaf"),
        ("first, last =", "first, last"),
        ("frame.loc[frame['x'] == 1, 'y'] =", "frame.loc[frame['x'] == 1, 'y']"),
        ("len(names) =", None),
        ("a == b", None),
        ("a = 1", None),
        (HEAD, None),
        ("", None),
    ],
)
def test_the_target_of_an_unfinished_assignment_is_its_left_side(
    unfinished: str, target: str | None
) -> None:
    assert stub.assignment_target(unfinished) == target


@pytest.mark.parametrize(
    ("unfinished", "answer", "reads"),
    [
        ("def strong(leaves, least=3):", "def strong(leaves, least=3):\n    return leaves", True),
        ("def strong(leaves, least=3):", "def strong(leaves, least=3):\n    leaves = []", False),
        ("def strong(*, least=3):", "async def strong(*, least=3):\n    return 3", False),
        ("def strong(least=LEAST):", "LEAST = 3\ndef strong(least=LEAST):\n    return 4", False),
        ("def strong():", "def strong():\n    return 4", True),
        ("def strong(leaves):", "strong = sorted", True),
        ("names =", "names = []", True),
    ],
)
def test_a_function_that_looks_at_none_of_its_parameters_is_told(
    unfinished: str, answer: str, reads: bool
) -> None:
    assert stub.reads_parameters(answer, unfinished) is reads


@pytest.mark.parametrize(
    ("head", "is_async"),
    [
        ("async def rows(path):", True),
        ("def rows(path):", False),
        ("async def rows(path) -> AsyncIterator[str]:", False),
        ("@asynccontextmanager\nasync def rows(path):", False),
    ],
)
def test_a_call_is_awaited_if_the_head_says_that_it_gives_a_coroutine(
    head: str, is_async: bool
) -> None:
    assert stub.is_async(head) is is_async
