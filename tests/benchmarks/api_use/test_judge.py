# ruff: noqa: E501 - a candidate is read best on one line
"""The check of api_use: right for every program that means the same, wrong for every other.

``EXPLORACODER_TEST_JUDGED`` says how many compositions are judged, with 23 programs for each.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from exploracoder_bench.api_use.expressions import Call, Outer, outers
from exploracoder_bench.api_use.flow_checks import check_of
from exploracoder_bench.api_use.invented_libraries import Shelf
from exploracoder_bench.api_use.library_files import provided, shelf_of
from exploracoder_bench.api_use.packages import write_packages
from exploracoder_bench.api_use.programs import program
from exploracoder_bench.api_use.sampling import sample
from exploracoder_bench.api_use.signature import ordered, parse, write
from hypothesis import HealthCheck, Phase, given, seed, settings

from .compositions import compositions
from .mutations import mutations
from .styles import styled

Composition = tuple[Shelf, Call, random.Random]

CONE = "solids.get_volume_of_cone()"
FIXED = "solids.get_volume_of_cone(radius=5)"
TURNED = "image.rotate(degrees=30).distort(pixels=image.get_width())"
CHAIN = "image.blur(pixels=3).blur(pixels=7)"
RIGHT = "solids.get_volume_of_cone(r, h)"
JUDGED = int(os.environ.get("EXPLORACODER_TEST_JUDGED", "20"))
# Each program in a namespace of its own, and what went wrong with it or its check.
RUN = """
import json, sys
check, programs = json.load(sys.stdin)
outcomes = []
for program in programs:
    names = {"__name__": "candidate"}
    try:
        exec(program, names)
        exec(check, names)
        outcomes.append("")
    except Exception as error:
        outcomes.append(f"{type(error).__name__}: {error}")
sys.stdout.write("\\n" + json.dumps(outcomes))
"""


def outcomes(
    folder: Path,
    expression: Call,
    order: Sequence[Outer],
    programs: Sequence[str],
    *,
    function: str = "f",
    shelf: Shelf | None = None,
) -> list[str]:
    """What is wrong with each program, empty if nothing is."""
    shelf = shelf or provided()
    write_packages(shelf, [(one.id, x.name) for one in shelf for x in one.functions], folder)
    process = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=folder,
        input=json.dumps([check_of(function, expression, order, shelf), programs]),
        capture_output=True,
        text=True,
        check=True,
    )
    answer: list[str] = json.loads(process.stdout.splitlines()[-1])
    return answer


def outcome(folder: Path, signature: str, candidate: str) -> str:
    expression = parse(signature, provided())
    return outcomes(folder, expression, outers(expression), [candidate])[0]


@pytest.mark.parametrize(
    ("signature", "program"),
    [
        (CONE, "import solids as s\ndef f(a, b):\n return s.get_volume_of_cone(height=b, radius=a)"),
        (CONE, "from solids import get_volume_of_cone as g\nf = g"),
        (CONE, "from solids import *\ndef f(a, b):\n return get_volume_of_cone(a, b)"),
        (CONE, "def f(r, *more):\n import solids\n return solids.get_volume_of_cone(r, *more)"),
        (CONE, "import solids\nf = lambda r, h: solids.get_volume_of_cone(r, height=h)"),
        (
            CONE,
            "import solids\nfrom functools import partial\ndef f(r, h):\n"
            " return partial(solids.get_volume_of_cone, height=h)(r)",
        ),
        (
            CONE,
            "import solids\ndef f(r, h):\n if r > h:\n  x = solids.get_volume_of_cone(r, h)\n"
            " else:\n  x = solids.get_volume_of_cone(height=h, radius=r)\n return x",
        ),
        (
            CONE,
            "import solids\ndef f(r, h):\n try:\n  return solids.get_volume_of_cone(r, h)\n"
            " except Exception:\n  return None",
        ),
        (CONE, "import solids\ndef f(r, h):\n print(r)\n return solids.get_volume_of_cone(r, h)"),
        (FIXED, "import solids\ndef f(h):\n return solids.get_volume_of_cone(2 + 3, h)"),
        (FIXED, "import solids\ndef f(h):\n return solids.get_volume_of_cone(5.0, h)"),
        (
            FIXED,
            "import solids\ndef f(h):\n given = dict(radius=5)\n given['height'] = h\n"
            " return getattr(solids, 'get_volume_of_cone')(**given)",
        ),
        (TURNED, "def f(i):\n w = i.get_width()\n return i.rotate(30).distort(w)"),
        (TURNED, "def f(image):\n other = image.rotate(30)\n return other.distort(image.get_width())"),
        (TURNED, "from image import Image\ndef f(i):\n"
                 " return Image.distort(Image.rotate(i, 30), i.get_width())"),
        (CHAIN, "def f(i):\n for n in (3, 7):\n  i = i.blur(n)\n return i"),
        (CHAIN, "from functools import reduce\ndef f(i):\n"
                " return reduce(lambda a, n: a.blur(n), [3, 7], i)"),
        (CHAIN, "class Work:\n def __init__(self, i):\n  self.i = i\n def go(self):\n"
                "  return self.i.blur(3).blur(pixels=7)\ndef f(i):\n return Work(i).go()"),
        (CONE, f"import solids\ndef f(r, h):\n if r > h:\n  return {RIGHT}\n elif r <= h:\n  return {RIGHT}"),
        (CONE, f"import solids\ndef f(r, h):\n if r < h:\n  v = {RIGHT}\n if h <= r:\n  v = {RIGHT}\n return v"),
        (CONE, f"import solids\ndef f(r, h):\n if r + 1 == h:\n  v = {RIGHT}\n"
               f" if h != r + 1:\n  v = {RIGHT}\n return v"),
        (CONE, f"import solids\ndef f(r, h):\n if r:\n  v = {RIGHT}\n if not r:\n  v = {RIGHT}\n return v"),
        (CHAIN, "def f(i):\n if hasattr(i, 'smear'):\n  return i.smear(1)\n return i.blur(3).blur(7)"),
        (CHAIN, "from image import Image\ndef f(i):\n if not isinstance(i, Image):\n"
                "  raise TypeError('no image')\n return i.blur(3).blur(7)"),
        (CHAIN, "from copy import copy, deepcopy\ndef f(i):\n return deepcopy([copy(i)])[0].blur(3).blur(7)"),
        (CHAIN, "def f(i):\n print('blurs ' + str(i), f'{i} and {i!r:>9}', '%s' % i)\n"
                " return i.blur(3).blur(7)"),
        (CHAIN, "from functools import cache, lru_cache\n@cache\ndef a(i):\n return i.blur(3)\n"
                "@lru_cache(maxsize=None)\ndef b(i):\n return i.blur(7)\n"
                "@lru_cache\ndef c(i):\n return b(a(i))\ndef f(i):\n return c(i)"),
    ],
)  # fmt: skip
def test_a_program_that_means_the_same_is_right(
    tmp_path: Path, signature: str, program: str
) -> None:
    assert outcome(tmp_path, signature, program) == ""


@pytest.mark.parametrize(
    ("signature", "program", "why"),
    [
        (CONE, "import solids\ndef f(r, h):\n return solids.get_volume_of_cone(h, r)", "not what is asked"),
        (CONE, "def f(r, h):\n return solids.get_volume_of_cone(r, h)", "NameError"),
        (CONE, "import solids\ndef f(r, h):\n return solids.get_volume_of_cone(r)", "missing 1 required"),
        (CONE, "import solids\ndef f(r, h):\n return solids.get_volume_of_cone", "it returns <function"),
        (CONE, "import solids\ndef f(r, h):\n return solids.get_volume_of_cone(r, h) * 1", "unsupported operand"),
        (CONE, "import solids\ndef f(r, h):\n return [solids.get_volume_of_cone(r, h)]", "it returns [<solids"),
        (CONE, "import solids\ndef g(r, h):\n return solids.get_volume_of_cone(r, h)", "NameError"),
        (CONE, "import solids\ndef f(r, h):\n print(solids.get_volume_of_cone(r, h))", "it returns None"),
        (CONE, f"import solids\ndef f(r, h):\n if r > 45:\n  return {RIGHT}", "it returns None"),
        (CONE, f"import solids\ndef f(r, h):\n if {RIGHT}:\n  return {RIGHT}", "true or equal is unknown"),
        (CONE, f"import solids\ndef f(r, h):\n if {RIGHT} == 5:\n  return {RIGHT}", "true or equal is unknown"),
        (CONE, "class Yes:\n def __eq__(self, other):\n  return True\ndef f(r, h):\n return Yes()", "not what"),
        (FIXED, "import solids\ndef f(h):\n return solids.get_volume_of_cone('5', h)", "radius='5'"),
        (FIXED, "import solids\ndef f(h):\n return solids.get_volume_of_cone(h, 5)", "not what is asked"),
        ("solids.get_volume_of_sphere(radius=1)", "import solids\ndef f():\n return solids.get_volume_of_sphere(True)",
         "radius=True"),
        (TURNED, "def f(i):\n i = i.rotate(30)\n return i.distort(i.get_width())", "not what is asked"),
        (TURNED, "from image import Image\ndef f(i):\n return Image().rotate(30).distort(i.get_width())", "Image()"),
        (CHAIN, "def f(i):\n for n in (7, 3):\n  i = i.blur(n)\n return i", "pixels=7"),
        (CHAIN, "def f(i):\n return i.blur('<b>').blur(7)", "pixels='<b>'"),
        (CHAIN, "def f(i):\n return i.blur(3).smear(7)", "no attribute 'smear'"),
    ],
)  # fmt: skip
def test_a_program_that_means_something_else_is_wrong_and_told_what_it_returns(
    tmp_path: Path, signature: str, program: str, why: str
) -> None:
    assert why in outcome(tmp_path, signature, program)


def test_the_check_does_not_give_the_answer_away() -> None:
    expression = parse(FIXED, provided())

    assert "volume" not in check_of("f", expression, outers(expression), provided())


def test_a_value_that_comes_of_one_used_twice_again_and_again_is_shown_and_compared_at_once(
    tmp_path: Path,
) -> None:
    candidate = "def f(i):\n for _ in range(60):\n  i = i.overlay(i, 1)\n return i"

    assert len(outcome(tmp_path, CHAIN, candidate)) < 2_000


def test_truth_values_are_told_apart(tmp_path: Path) -> None:
    flags = [{"name": f"is_{letter}", "type": "bool"} for letter in "abc"]
    shelf = shelf_of({"tea": {"functions": {"brew": {"args": flags}}}}, "tea")
    expression = parse("tea.brew()", shelf)
    names = ["is_a, is_b, is_c", "is_b, is_a, is_c", "True, is_b, is_c", "is_a, False, is_c"]
    programs = [f"import tea\ndef f(is_a, is_b, is_c):\n return tea.brew({one})" for one in names]

    verdicts = outcomes(tmp_path, expression, outers(expression), programs, shelf=shelf)

    assert [verdict == "" for verdict in verdicts] == [True, False, False, False]


def test_the_order_of_the_outer_arguments_counts(tmp_path: Path) -> None:
    expression = parse("solids.get_volume_of_box(width=3)", provided())
    right = (
        "import solids\ndef f(height, length):\n return solids.get_volume_of_box(length, 3, height)"
    )
    wrong = right.replace("(height, length)", "(length, height)")

    verdicts = outcomes(
        tmp_path, expression, ordered(expression, ["height", "length"]), [right, wrong]
    )

    assert [verdict == "" for verdict in verdicts] == [True, False]


def judged_falsely(folder: Path, composition: Composition) -> list[str]:
    """Of a reference, of programs that mean the same, and of twenty mutations."""
    shelf, expression, rng = composition
    # Through the signature and back: what is asked for is what a file of problems would ask for.
    target = parse(write(expression), shelf)
    order = outers(target)
    rng.shuffle(order)
    right = [program(target, order, shelf), *(styled(target, order, shelf, rng) for _ in range(2))]
    wrong = [styled(one, order, shelf, rng) for one in mutations(target, order, shelf, rng, 20)]
    programs = [*right, *wrong]
    verdicts = outcomes(folder, target, order, programs, function="test", shelf=shelf)
    expected = [True] * len(right) + [False] * len(wrong)
    return [
        f"{verdict}\n{text}"
        for text, verdict, is_right in zip(programs, verdicts, expected, strict=True)
        if (verdict == "") is not is_right
    ]


@pytest.mark.timeout(0)
def test_references_pass_and_mutations_fail(tmp_path: Path) -> None:
    shelf, rng = provided(), random.Random(3)
    for _ in range(JUDGED):
        composition = (shelf, sample(shelf, rng, depth=rng.randint(1, 6)), rng)

        assert judged_falsely(tmp_path, composition) == []


@pytest.mark.timeout(0)
def test_the_same_holds_for_libraries_that_hypothesis_makes_up(tmp_path: Path) -> None:
    examples: list[Composition] = []

    @seed(5)
    @settings(max_examples=JUDGED, database=None, deadline=None, phases=[Phase.generate])
    @given(compositions())
    def draw(composition: Composition) -> None:
        examples.append(composition)

    draw()
    for number, composition in enumerate(examples):
        assert judged_falsely(tmp_path / str(number), composition) == []


@given(compositions())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_composition_comes_back_from_its_signature(composition: Composition) -> None:
    shelf, expression, _ = composition

    assert parse(write(expression), shelf) == expression
