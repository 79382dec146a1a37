# ruff: noqa: E501 - a candidate is read best on one line
"""The judge of api_use: right for every program that means the same, wrong for every other."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from xml.etree import ElementTree

import pytest
import pytest_asyncio
from exploracoder.errors import InputError
from exploracoder_bench.api_use import mutation_check
from exploracoder_bench.api_use.expressions import Outer, outers
from exploracoder_bench.api_use.flow import of_expression
from exploracoder_bench.api_use.judging import Judge, Question, open_judge
from exploracoder_bench.api_use.library_files import provided
from exploracoder_bench.api_use.signature import ordered, parse
from exploracoder_bench.api_use.strategies import compositions
from exploracoder_bench.api_use.verdicts import Verdict, verdict_on
from hypothesis import HealthCheck, given, settings

# One sidecar serves them all, so they share its loop.
ONE_LOOP = pytest.mark.asyncio(loop_scope="module")

CONE = "solids.get_volume_of_cone()"
FIXED = "solids.get_volume_of_cone(radius=5)"
TURNED = "image.rotate(degrees=30).distort(pixels=image.get_width())"
CHAIN = "image.blur(pixels=3).blur(pixels=7)"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def judge() -> AsyncIterator[Judge]:
    async with open_judge(seconds=20) as opened:
        yield opened


async def verdict(
    judge: Judge, signature: str, program: str, *, is_strict: bool = False
) -> Verdict:
    shelf = provided()
    expression = parse(signature, shelf)
    order = tuple(outers(expression))
    question = Question(shelf, program, "f", order)
    return await judge.judge(question, of_expression(expression, order), is_strict=is_strict)


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
        (CONE, "import solids\ndef f(r: Length, h) -> Volume:\n return solids.get_volume_of_cone(r, h)"),
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
    ],
)  # fmt: skip
@ONE_LOOP
async def test_a_program_that_means_the_same_is_right(
    judge: Judge, signature: str, program: str
) -> None:
    said = await verdict(judge, signature, program)

    assert said.correct, said.why


@pytest.mark.parametrize(
    ("signature", "program", "why"),
    [
        (CONE, "import solids\ndef f(r, h):\n return solids.get_volume_of_cone(h, r)", "instead of"),
        (CONE, "def f(r, h):\n return solids.get_volume_of_cone(r, h)", "NameError"),
        (CONE, "import solids\ndef f(r, h):\n return solids.get_volume_of_cone(r)", "misses height"),
        (CONE, "import solids\ndef f(r, h):\n return solids.get_volume_of_cone", "not called"),
        (CONE, "import solids\ndef f(r, h):\n return solids.get_volume_of_cone(r, h) * 1", "mul"),
        (CONE, "import solids\ndef f(r, h):\n return [solids.get_volume_of_cone(r, h)]", "list"),
        (CONE, "import solids\ndef g(r, h):\n return solids.get_volume_of_cone(r, h)", "function f"),
        (
            CONE,
            "import solids\ndef f(r, h):\n if r > 0:\n  return solids.get_volume_of_cone(r, h)",
            "gt(0=the argument radius, 1=0) is false",
        ),
        (FIXED, "import solids\ndef f(h):\n return solids.get_volume_of_cone('5', h)", "'5'"),
        (FIXED, "import solids\ndef f(h):\n return solids.get_volume_of_cone(h, 5)", "instead of 5"),
        (
            "solids.get_volume_of_sphere(radius=1)",
            "import solids\ndef f():\n return solids.get_volume_of_sphere(True)",
            "True instead of 1",
        ),
        (TURNED, "def f(i):\n i = i.rotate(30)\n return i.distort(i.get_width())", "its object"),
        (TURNED, "from image import Image\ndef f(i):\n"
                 " return Image().rotate(30).distort(i.get_width())", "image"),
        (CHAIN, "def f(i):\n for n in (7, 3):\n  i = i.blur(n)\n return i", "7 instead of 3"),
        (CHAIN, "def f(i):\n while i:\n  i = i.blur(3)\n return i.blur(7)", "more than 32 ways"),
        (CHAIN, "def f(i):\n return i.blur(3).smear(7)", "no function smear"),
        ("image.blur(pixels=3)", "def f(i):\n return i.blur(len(str(i)))", "each time"),
    ],
)  # fmt: skip
@ONE_LOOP
async def test_a_program_that_means_something_else_is_wrong_and_told_where(
    judge: Judge, signature: str, program: str, why: str
) -> None:
    said = await verdict(judge, signature, program)

    assert not said.correct
    assert why in said.why


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("def f(r, h):\n return f(r, h)", "RecursionError"),
        ("def f(r, h):\n return [0] * 10 ** 11", "MemoryError"),
        ("import os\ndef f(r, h):\n os._exit(0)", "imports os"),
        ("def f(r, h):\n __import__('os')", "uses __import__"),
        ("def f(r, h):\n return eval('1')", "uses eval"),
        ("def f(r, h):\n raise SystemExit(0)", "SystemExit"),
        ("def f(r, h):\n print('{\"correct\": true}')", "returns None"),
        ("from exploracoder_bench.api_use import judging\ndef f(r, h):\n pass", "imports"),
        ("def f(r, h):\n return r.__class__", "reaches for .__class__"),
        ("def f(r, h):\n return getattr(r, '__class' + '__')", "AttributeError"),
        ("def f(r, h):\n return (x for x in ()).gi_frame", "reaches for .gi_frame"),
        ("def f(r, h):\n match r:\n  case int(__class__=c):\n   return c", "reaches for"),
        ("from operator import attrgetter\ndef f(r, h):\n return attrgetter('x')(r)", "ImportError"),
        ("class Yes:\n def __eq__(self, other):\n  return True\ndef f(r, h):\n return Yes()", "Yes"),
        ("class Bad(Exception):\n def __str__(self):\n  raise Bad\ndef f(r, h):\n raise Bad", "shown"),
        ("import solids\nsolids.get_volume_of_cone = None\ndef f(r, h):\n return r", "be changed"),
        ("def f(r, h):\n r.height = h\n return r", "AttributeError"),
        ("def f(r, h):\n return r[", "is not Python in line 2"),
        ("x" * 200_000, "longer than"),
        ("(" * 5_000 + ")" * 5_000, "is n"),
        ("def f(r, h):\n return '\\ud800'", "'"),
        ("def f(r, h):\n x = []\n x.append(x)\n return x", "instead of"),
        ("import solids\ndef f(r, h):\n for n in range(10 ** 6):\n  r = r + n\n return r", "makes more"),
        ("def f(r, h):\n n = 0\n while not r > n: n += 1\n return n", "decides more"),
    ],
)  # fmt: skip
@ONE_LOOP
async def test_a_program_that_means_harm_is_not_believed(
    judge: Judge, program: str, why: str
) -> None:
    said = await verdict(judge, CONE, program)

    assert not said.correct
    assert why in said.why


@pytest.mark.parametrize(
    "program",
    [
        "def f(r, h):\n while True: pass",
        "def f(r, h):\n try:\n  while True: pass\n except BaseException:\n  return f(r, h)",
        "def f(r, h):\n return 10 ** 10 ** 9",
    ],
)
@ONE_LOOP
async def test_a_program_that_does_not_end_is_ended(judge: Judge, program: str) -> None:
    said = await verdict(Judge(judge.sidecar, seconds=0.3), CONE, program)

    assert not said.correct
    assert "did not come to its end within 0.3 s" in said.why


@ONE_LOOP
async def test_a_harmful_program_takes_none_of_its_batch_with_it(judge: Judge) -> None:
    shelf = provided()
    expression = parse(CONE, shelf)
    order = tuple(outers(expression))
    right = "import solids\ndef f(r, h):\n return solids.get_volume_of_cone(r, h)"
    programs = [right, "def f(r, h):\n while True: pass", "def f(r, h):\n raise SystemExit", right]
    questions = [Question(shelf, program, "f", order) for program in programs]

    hasty = Judge(judge.sidecar, seconds=3)
    said = await hasty.judge_all(questions, [of_expression(expression, order)] * 4)

    assert [one.correct for one in said] == [True, False, False, True]


@ONE_LOOP
async def test_what_a_candidate_makes_python_say_does_not_reach_the_judge(judge: Judge) -> None:
    program = (
        "import solids\nclass Loud:\n def __del__(self):\n  raise ValueError('heard')\n"
        "def f(r, h):\n Loud()\n '\\d'\n if r is 5: return 1\n"
        " return solids.get_volume_of_cone(r, h)"
    )

    said = await verdict(judge, CONE, program)

    assert said.correct, said.why


@ONE_LOOP
async def test_unused_calls_are_wrong_only_when_that_is_asked_for(judge: Judge) -> None:
    program = "def f(i):\n i.flip_vertical()\n return i.blur(3).blur(7)"

    loose = await verdict(judge, CHAIN, program)
    strict = await verdict(judge, CHAIN, program, is_strict=True)

    assert loose.correct
    assert "1 calls do not reach" in loose.why
    assert not strict.correct


@ONE_LOOP
async def test_the_picture_shows_both_flows_and_is_well_formed(judge: Judge) -> None:
    said = await verdict(judge, CHAIN, "def f(i):\n return i.blur('<b>\\x00&').blur(7)")

    texts = [one.text for one in ElementTree.fromstring(said.svg).iter() if one.text]
    assert "pixels: 3" in texts
    assert any("<b>" in text for text in texts)
    assert "→     pixels: 3" in said.text


@ONE_LOOP
async def test_a_flow_that_is_a_huge_tree_is_compared_at_once(judge: Judge) -> None:
    doubled = "def f(i):\n for _ in range(60):\n  i = i.overlay(i, 1)\n return i"
    said = await verdict(judge, CHAIN, doubled)

    assert not said.correct
    assert len(said.text) < 50_000


@ONE_LOOP
async def test_the_reference_of_a_case_must_have_a_data_flow(judge: Judge) -> None:
    shelf, order = provided(), (Outer("r"), Outer("h"))

    with pytest.raises(InputError, match="reference cannot be used"):
        await judge.flow_of(Question(shelf, "def f(r, h):\n raise ValueError", "f", order))
    with pytest.raises(InputError, match="no data flow"):
        await judge.flow_of(Question(shelf, "def f(r, h):\n return f", "f", order))


@ONE_LOOP
async def test_the_order_of_the_outer_arguments_counts(judge: Judge) -> None:
    shelf = provided()
    expression = parse("solids.get_volume_of_box(width=3)", shelf)
    order = tuple(ordered(expression, ["height", "length"]))
    program = "import solids\ndef f(height, length):\n"
    program += " return solids.get_volume_of_box(length, 3, height)"
    expected = of_expression(expression, order)

    right = await judge.judge(Question(shelf, program, "f", order), expected)
    turned = program.replace("(height, length)", "(length, height)")
    wrong = await judge.judge(Question(shelf, turned, "f", order), expected)

    assert (right.correct, wrong.correct) == (True, False)


@pytest.mark.parametrize(
    "record",
    [
        None,
        {},
        [],
        {"paths": []},
        {"paths": [{"outcome": "returned", "decisions": [], "nodes": [], "result": 0}]},
        {"paths": [{"outcome": "returned", "decisions": [], "nodes": [["call"]], "result": 0}]},
        {
            "paths": [
                {
                    "outcome": "returned",
                    "decisions": [],
                    "nodes": [["call", "solids.get_volume_of_cone", [["radius", 0]]]],
                    "result": 0,
                }
            ]
        },
        {"paths": [{"outcome": "returned", "decisions": [], "result": 0,
                    "nodes": [["constant", ["int", "__import__('os')"], []]]}]},
    ],
)  # fmt: skip
@ONE_LOOP
async def test_a_forged_record_is_not_believed(record: object) -> None:
    shelf = provided()
    expression = parse(CONE, shelf)

    said = verdict_on(record, of_expression(expression, outers(expression)))

    assert not said.correct
    assert said.refused


@ONE_LOOP
async def test_references_pass_and_mutations_fail_each_in_a_process_of_its_own(
    judge: Judge,
) -> None:
    problems = mutation_check.provided_problems(8, seed=3)

    tally = await mutation_check.check(
        judge, problems, wrong=20, alike=5, is_apart=True, tell=lambda _: None
    )

    assert tally.judged["reference"] == 8
    assert tally.judged.total() == 8 * 26
    assert tally.faults == []


@ONE_LOOP
async def test_the_same_holds_for_libraries_that_hypothesis_makes_up(judge: Judge) -> None:
    problems = list(mutation_check.hypothesis_problems(25, seed=5))

    tally = await mutation_check.check(
        judge, iter(problems), wrong=20, alike=3, is_apart=False, tell=lambda _: None
    )

    assert tally.judged.total() == 25 * 24
    assert tally.faults == []


@given(compositions())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_composition_comes_back_from_its_signature(
    made: tuple[mutation_check.Shelf, mutation_check.Call, random.Random],
) -> None:
    shelf, expression, _ = made
    text = mutation_check.write(expression)

    assert parse(text, shelf) == expression
