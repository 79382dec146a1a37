"""Cells and the solution in what a model replies, and in what it has written so far."""

from __future__ import annotations

import pytest
from exploracoder.engine.reading.cells import (
    Cell,
    Script,
    body_of,
    cells_of,
    heading_of,
    read_cells,
    read_script,
)

from .scripted import COLLECT, GOALS, KEEP, READ, SOLUTION, fenced, script_of

A, B, C, D = (fenced(f"{name} = tealeaf.brew()") for name in "abcd")


def written(reply: str) -> list[tuple[int | None, str, str]]:
    """The cells in a reply: number, goal, and the name that the code makes."""
    return [(one.number, one.goal, one.code[:1]) for one in read_script(reply).cells]


def test_cells_the_solution_and_its_calls_are_read() -> None:
    script = read_script(script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION), "print(1)"))

    assert script.cells == tuple(
        Cell(number, goal, code)
        for number, (goal, code) in enumerate(
            zip(GOALS, (READ, KEEP, COLLECT), strict=True), start=1
        )
    )
    assert (script.solution, script.calls) == (SOLUTION, "print(1)")


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["CRLF", "CR"])
def test_lines_may_end_in_any_way(end: str) -> None:
    reply = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))

    assert read_script("\ufeff" + reply.replace("\n", end)) == read_script(reply)


ALONE = {
    "a block": f"This does it:\n\n{fenced(SOLUTION)}\n\nIt needs tealeaf.",
    "no fence": SOLUTION,
    "a level-one heading is a comment": f"# Solution\n{SOLUTION}",
}


@pytest.mark.parametrize("reply", ALONE.values(), ids=ALONE.keys())
def test_a_reply_without_headings_is_the_solution_alone(reply: str) -> None:
    script = read_script(reply)

    assert script.cells == ()
    assert script.solution.endswith(SOLUTION)


PROSE = {
    "nothing": "",
    "a sentence": "First I would read the leaves.",
    "a list": "1. Read the leaves\n2. Keep the strong",
    "a plan with headings": "### 1. Read them\nWith read_leaves.\n### Solution\nThen keep them.",
    "a heading alone": "### 1. Read them",
    "done": "It is right.\n\n### Done",
}


@pytest.mark.parametrize("reply", PROSE.values(), ids=PROSE.keys())
def test_in_prose_there_is_nothing_to_run(reply: str) -> None:
    assert read_script(reply) == Script()


HEADINGS = {
    "### 1. Read the leaves": (1, "Read the leaves"),
    "## 1) Read the leaves ##": (1, "Read the leaves"),
    "### Step 3: Read the leaves": (3, "Read the leaves"),
    "### Cell 2) Read the leaves": (2, "Read the leaves"),
    "#### Cell 2 \u2014 Read the leaves:": (2, "Read the leaves"),
    "**1. Read the leaves**": (1, "Read the leaves"),
    "**1. Read the leaves:**": (1, "Read the leaves"),
    "**Step 1:** Read the leaves": (1, "Read the leaves"),
    "### **1.** Read the leaves": (1, "Read the leaves"),
    "### **1. Read the leaves**": (1, "Read the leaves"),
    "### 1. **Read the leaves**": (1, "Read the leaves"),
    "### Read the leaves": (None, "Read the leaves"),
    "### Schritt 1: Blätter lesen": (1, "Blätter lesen"),
    "### 1. 读取茶叶": (1, "读取茶叶"),
    "### Étape 1 : lire": (None, "Étape 1 : lire"),
    "### 3.5 mm leaves": (None, "3.5 mm leaves"),
    "### 2026 leaves": (None, "2026 leaves"),
    "### 4": (4, "Cell 4"),
    "### Find a solution": (None, "Find a solution"),
    "### Call the API": (None, "Call the API"),
}


@pytest.mark.parametrize(("heading", "expected"), HEADINGS.items(), ids=HEADINGS.keys())
def test_a_cell_s_number_and_goal_are_in_its_heading(
    heading: str, expected: tuple[int | None, str]
) -> None:
    assert written(f"{heading}\n{A}\n### Solution\n{B}") == [(*expected, "a")]


@pytest.mark.parametrize(
    "heading",
    [
        "### Solution",
        "## solution:",
        "**Solution:**",
        "### 2. Solution",
        "### The final solution",
        "### Solution: all in one",
        "### Solution (complete)",
        "### Done",
    ],
)
def test_the_solution_has_a_heading_of_its_own(heading: str) -> None:
    script = read_script(f"### 1. Read\n{A}\n{heading}\n{B}\n### Example calls\n{C}")

    assert [one.code[:1] for one in script.cells] == ["a"]
    assert script.solution[:1] == "b"
    assert script.calls[:1] == "c"


def test_a_solution_that_is_written_stands_before_what_done_repeats() -> None:
    assert read_script(f"### Done\n{A}\n### Solution\n{B}").solution[:1] == "b"


def test_of_two_solutions_the_first_counts_and_cells_of_one_number_are_two() -> None:
    reply = f"### 1. Read\n{A}\n### 1. Read\n{B}\n### Solution\n{C}\n### Solution\n{D}"

    assert [one[2] for one in written(reply)] == ["a", "b"]
    assert read_script(reply).solution[:1] == "c"


def test_what_is_bold_in_a_cell_s_words_is_no_heading() -> None:
    reply = f"### 1. Read\n**It reads the leaves.**\n**Note** the order.\n{A}\n### Solution\n{B}"

    assert written(reply) == [(1, "Read", "a")]


BLOCKS = {
    "tildes": ("~~~python\na = f()\n~~~", "a = f()"),
    "no tag": ("```\na = f()\n```", "a = f()"),
    "odd tags": ("```{.python .cell}\na = f()\n```", "a = f()"),
    "another version": ("```Python3\na = f()\n```", "a = f()"),
    "several that go on": (f"{fenced('import f')}\nthen\n{fenced('a = f.g()')}", "a = f.g()"),
    "what comes out": (f"{fenced('a = f()')}\n```text\n[1, 2]\n```", "a = f()"),
    "a shell's": ("```bash\npip install tealeaf\n```", ""),
    "no fence": ("a = f()", "a = f()"),
    "headings in a string": (fenced("a = '''\n### 2. b\n## Solution\n'''\nf(a)"), "f(a)"),
    "headings in comments": (fenced("## Solution\na = f()"), "a = f()"),
    "fences in a docstring": (
        fenced('def g():\n    """\n    ```\n    1\n    ```\n    """\n    return a'),
        "return a",
    ),
    "a longer fence": ("````python\na = '''\n```\n'''\nf(a)\n````", "f(a)"),
}


@pytest.mark.parametrize(("block", "end"), BLOCKS.values(), ids=BLOCKS.keys())
def test_a_cell_s_code_is_read_from_any_block(block: str, end: str) -> None:
    script = read_script(f"### 1. Read\n{block}\n### Solution\n{B}")

    assert [one.code.splitlines()[-1].strip() for one in script.cells] == ([end] if end else [])
    assert script.solution[:1] == "b"


@pytest.mark.parametrize("fence", ["```", "````", "~~~"])
def test_a_reply_in_one_block_of_markdown_is_read_as_it_is(fence: str) -> None:
    reply = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))

    assert read_script(f"{fence}markdown\n{reply}\n{fence}") == read_script(reply)


def test_a_huge_cell_is_read_and_a_long_goal_is_cut() -> None:
    code = "\n".join(f"leaf_{n} = tealeaf.brew({n})" for n in range(3000))
    (cell,) = read_script(f"### 1. {'tea ' * 1000}\n{fenced(code)}\n### Solution\n{B}").cells

    assert cell.code == code
    assert len(cell.goal) <= 310


def test_more_cells_than_a_notebook_takes_are_left_out() -> None:
    codes = [f"a{n} = f()" for n in range(100)]
    script = read_script(script_of(["Brew"] * 100, codes, B))

    assert len(script.cells) == 40
    assert script.solution[:1] == "b"


def test_what_was_cut_off_ends_with_a_whole_statement() -> None:
    reply = script_of(GOALS[:2], [READ, KEEP])
    cut = reply[: reply.index("print([leaf.strength") + 8]
    whole = KEEP.splitlines()[0]

    assert [one.code for one in read_script(cut, is_cut_off=True).cells] == [READ, whole]
    assert read_script("```python\na = f()\nb = g(", is_cut_off=True).solution == "a = f()"


def test_a_cell_is_complete_when_the_next_heading_is_there() -> None:
    reply = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))
    readings = [read_cells(reply[:end]) for end in range(len(reply) + 1)]
    first = next(end for end, cells in enumerate(readings) if cells)

    assert [len(cells) for cells in readings] == sorted(len(cells) for cells in readings)
    assert all(cells == read_script(reply).cells[: len(cells)] for cells in readings)
    assert readings[-1] == read_script(reply).cells
    assert f"### 2. {GOALS[1]}".startswith(reply[:first].splitlines()[-1])


def test_the_heading_that_is_being_written_under_is_known() -> None:
    reply = script_of(GOALS, [READ, KEEP, COLLECT], fenced(SOLUTION))

    assert heading_of("") == heading_of("First I would") == ""
    assert heading_of(reply[: reply.index(KEEP)]) == f"2. {GOALS[1]}"
    assert heading_of(reply) == "Solution"


def test_a_program_is_cut_where_a_comment_begins_a_part() -> None:
    code = (
        "import tealeaf\n\n# Read them\nleaves = f(\n    # all\n    1)\n\nprint(leaves)\n# Count\n2"
    )

    assert [(one.number, one.goal) for one in cells_of(code)] == [
        (1, "Read them"),
        (2, "Count"),
    ]
    assert "\n".join(one.code for one in cells_of(code)).split() == code.split()


def test_a_program_without_comments_is_cut_at_blank_lines() -> None:
    code = "import tealeaf\nleaves = f()\n\n@g\ndef h():\n\n    return 1\n\nh()"

    assert [one.goal for one in cells_of(code)] == ["`leaves = f()`", "`@g`", "`h()`"]


@pytest.mark.parametrize(
    ("code", "pieces"),
    [
        ("import m\nx = m.f()\n\na = 1; b = 2", ["import m\nx = m.f()", "a = 1; b = 2"]),
        ("x = 1\n\nt = '''a\n\nb'''; y = 2", ["x = 1", "t = '''a\n\nb'''; y = 2"]),
        ("x = 1\n# Sum\na = 1; b = 2", ["x = 1", "# Sum\na = 1; b = 2"]),
    ],
)
def test_a_line_with_several_statements_stays_whole(code: str, pieces: list[str]) -> None:
    assert [one.code for one in cells_of(code)] == pieces


@pytest.mark.parametrize("code", ["", "# nothing", "a = (", "\0", SOLUTION])
def test_a_definition_alone_is_not_cut(code: str) -> None:
    assert cells_of(code) == ()


@pytest.mark.parametrize(
    ("code", "program"),
    [
        ("import m\n\ndef f(a):\n    return m.g(a)", "import m\n\nr = m.g(a)"),
        ("def f(a):\n    # Twice\n    b = 2 * a\n    return b", "# Twice\nb = 2 * a\nr = b"),
        ("def f(a):\n    return {\n        1: a\n    }", "r = {\n    1: a\n}"),
        ("def f(a):\n    return[a]", "r =[a]"),
        ('def f(a):\n    b = "é" * 6; return a', 'b = "é" * 6; r = a'),
        ("def f(a):\n    if a:\n        return 1\n    return 2", ""),
        ("def f(a):\n    def g():\n        return a\n    return g()", ""),
        ("def f(a):\n    print(a)", ""),
        ("def f(a):\n    return", ""),
        ("def f(a): return a", ""),
        ("def other(a):\n    return a", ""),
        ("class f:\n    pass", ""),
        ("def f(a:", ""),
        ("", ""),
    ],
)
def test_a_function_s_body_as_a_program(code: str, program: str) -> None:
    assert body_of(code, "f", "r") == program
