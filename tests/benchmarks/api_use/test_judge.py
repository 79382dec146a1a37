# ruff: noqa: E501 - a candidate is read best on one line
"""The judge of api_use: right for every program that means the same, wrong for every other.

``EXPLORACODER_TEST_JUDGED`` says how many compositions are judged, with 23 programs for each.
"""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from exploracoder.errors import InputError
from exploracoder_bench.api_use.expressions import Call, Outer, outers
from exploracoder_bench.api_use.flow import of_expression
from exploracoder_bench.api_use.grading import Verdict, verdict_on
from exploracoder_bench.api_use.invented_libraries import Shelf
from exploracoder_bench.api_use.judging import Judge, Question, open_judge
from exploracoder_bench.api_use.library_files import provided, shelf_of
from exploracoder_bench.api_use.programs import program
from exploracoder_bench.api_use.sampling import sample
from exploracoder_bench.api_use.signature import ordered, parse, write
from hypothesis import HealthCheck, Phase, given, seed, settings

from .compositions import compositions
from .mutations import mutations
from .styles import styled

Composition = tuple[Shelf, Call, random.Random]

# One sidecar serves them all, so they share its loop.
ONE_LOOP = pytest.mark.asyncio(loop_scope="module")

CONE = "solids.get_volume_of_cone()"
FIXED = "solids.get_volume_of_cone(radius=5)"
TURNED = "image.rotate(degrees=30).distort(pixels=image.get_width())"
CHAIN = "image.blur(pixels=3).blur(pixels=7)"
ANY = "tea.brew()"
# The right call, and the one that a program makes for real numbers though it shows the right one.
RIGHT, SWAPPED = "solids.get_volume_of_cone(r, h)", "solids.get_volume_of_cone(h, r)"
UNKNOWN = "asks of a value what nobody knows"
JUDGED = int(os.environ.get("EXPLORACODER_TEST_JUDGED", "20"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def judge() -> AsyncIterator[Judge]:
    async with open_judge(seconds=20) as flow_judge:
        yield flow_judge


TEA = shelf_of(
    {
        "tea": {"functions": {"brew": {"args": ["leaf"]}}},
        "leaf": {"style": "class", "functions": {"dry": {"returns": "leaf"}}},
    },
    "tea",
)


async def verdict(
    judge: Judge,
    signature: str,
    program: str,
    *,
    is_strict: bool = False,
    shelf: Shelf | None = None,
) -> Verdict:
    shelf = shelf or provided()
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
@ONE_LOOP
async def test_a_program_that_means_the_same_is_right(
    judge: Judge, signature: str, program: str
) -> None:
    judgement = await verdict(judge, signature, program)

    assert judgement.correct, judgement.why


CLASSES = {
    "private attributes": """
class Cone:
    _made = 0
    def __init__(self, r, h):
        self._r, self.__h = r, h
        self._made += 1
    def _go(self):
        return solids.get_volume_of_cone(self._r, self.__h)
    def go(self):
        return self._go()
def f(r, h):
    return Cone(r, h).go()
""",
    "object and super": """
class Base(object):
    def __init__(self, r):
        self.r = r
class Cone(Base):
    def __init__(self, r, h):
        super().__init__(r)
        self.h = h
class Same(Cone):
    def __init__(self, *both):
        super(Same, self).__init__(*both)
def f(r, h):
    cone = Same(r, h)
    return solids.get_volume_of_cone(cone.r, cone.h)
""",
    "dataclasses": """
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from typing import ClassVar
@dataclass(frozen=True)
class Round:
    radius: float
    unit: ClassVar[str] = "m"
@dataclass(frozen=True, order=True)
class Cone(Round):
    height: float = 2
    names: list = field(default_factory=list, repr=False)
    def __post_init__(self):
        self.names.append("cone")
def f(r, h):
    cone = replace(Cone(height=r, radius=r), height=h)
    try:
        cone.height = r
    except AttributeError:
        print(cone, cone == 3)
    assert len(cone.names) == 2 and len(Cone(1).names) == 1
    assert Cone(1, 2) == Cone(1) and Cone(1, 2) < Cone(1, 3) and Round(1) != Cone(1)
    given = {one.name: asdict(cone)[one.name] for one in fields(cone) if one.name != "names"}
    assert astuple(cone)[2] is not cone.names
    return solids.get_volume_of_cone(**given)
""",
    "named tuples": """
from collections import namedtuple
from typing import NamedTuple
Cone = namedtuple("Cone", "radius height", defaults=[1])
class Two(NamedTuple):
    radius: float
    height: float = 2
def f(r, h):
    cone = Cone(r)._replace(height=h)
    return solids.get_volume_of_cone(**Two(*cone)._asdict())
""",
    "abstract collections": """
import collections.abc
import collections.abc as kinds
from collections.abc import Callable, Iterable
def f(r: float, h: float) -> Callable[[], float]:
    given = [r, h]
    assert isinstance(given, Iterable) and isinstance(given, collections.abc.Sized)
    assert isinstance(given, kinds.Sequence) and not isinstance(r, Iterable)
    return solids.get_volume_of_cone(*given)
""",
}


@pytest.mark.parametrize("program", CLASSES.values(), ids=CLASSES)
@ONE_LOOP
async def test_a_program_with_classes_of_its_own_is_right(judge: Judge, program: str) -> None:
    judgement = await verdict(judge, CONE, f"import solids\n{program}")

    assert judgement.correct, judgement.why


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
        (CHAIN, "def f(i):\n return i.blur('<b>').blur(7)",
         "image.blur: its object → image.blur: pixels is '<b>' instead of 3"),
        (CHAIN, "def f(i):\n return i.blur(3).smear(7)", "no function smear"),
        ("image.blur(pixels=3)", "def f(i):\n return i.blur(len(f'{i}!'))", "each time"),
        ("image.blur(pixels=3)", "def f(i):\n return i.blur(len(str(i)))", UNKNOWN),
    ],
)  # fmt: skip
@ONE_LOOP
async def test_a_program_that_means_something_else_is_wrong_and_told_where(
    judge: Judge, signature: str, program: str, why: str
) -> None:
    judgement = await verdict(judge, signature, program)

    assert not judgement.correct
    assert why in judgement.why


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f" if r > h:\n  return {RIGHT}\n elif h > r:\n  return {RIGHT}", "returns None"),
        (f" if r > h:\n  return {RIGHT}\n return {RIGHT} if r >= h else {SWAPPED}", "instead of"),
        (f" return {SWAPPED} if str(r)[0] != '<' else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if str(r) == '5.0' else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if '.' in repr(r) else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if f'{{r}}' in ('5.0', '6.0') else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if ('r' + str(r))[1:] > '5' else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if f'{{r}}!'[0] != '<' else {RIGHT}", "each time"),
        (f" return {SWAPPED} if f'{{r}}!'[0] in '-0123456789' else {RIGHT}", "each time"),
        (f" return {SWAPPED} if f'{{r}}!'[:-1].isdigit() else {RIGHT}", "each time"),
        (f" if r > h:\n  return {RIGHT} if '.' in f'{{r}}!' else {SWAPPED}\n return {RIGHT}", "each time"),
        (f" return {SWAPPED} if '{{0.__class__.__name__}}'.format(r) != 'value' else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if hasattr(r, 'real') else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if getattr(r, 'real', None) is not None else {RIGHT}", UNKNOWN),
        (f" try:\n  float(r)\n except TypeError:\n  return {RIGHT}\n return {SWAPPED}", UNKNOWN),
        (f" try:\n  list(r)\n except TypeError:\n  return {SWAPPED}\n return {RIGHT}", UNKNOWN),
        (f" try:\n  divmod(r, h)\n except TypeError:\n  return {RIGHT}\n return {SWAPPED}", UNKNOWN),
        (f" try:\n  r in r\n except TypeError:\n  return {SWAPPED}\n return {RIGHT}", UNKNOWN),
        (f" try:\n  len(r)\n except BaseException:\n  return {SWAPPED}\n return {RIGHT}", UNKNOWN),
        (f" match r:\n  case int() | float():\n   return {SWAPPED}\n return {RIGHT}", UNKNOWN),
        (f" match r:\n  case [_]:\n   return {RIGHT}\n return {RIGHT}", "pattern"),
        (f" match r:\n  case {{}}:\n   return {SWAPPED}\n return {RIGHT}", "pattern"),
        (f" return {SWAPPED} if isinstance(r, (int, float)) else {RIGHT}", "instead of"),
        (f" return {SWAPPED} if isinstance(r, float) else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if {{5.0: 1}}.get(r) else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if len({{r, h}}) == 1 else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if hash(r) == hash(5.0) else {RIGHT}", UNKNOWN),
        (f" return {SWAPPED} if type(r) is float else {RIGHT}", "uses type"),
    ],
)  # fmt: skip
@ONE_LOOP
async def test_a_program_that_would_take_real_numbers_another_way_is_wrong(
    judge: Judge, body: str, why: str
) -> None:
    judgement = await verdict(judge, CONE, f"import solids\ndef f(r, h):\n{body}")

    assert not judgement.correct
    assert why in judgement.why


@pytest.mark.parametrize(
    "question",
    ["isinstance(a, int)", "callable(a)", "isinstance(a, Leaf)", "hasattr(a, 'dry')", "iter(a)"],
)
@ONE_LOOP
async def test_of_a_value_of_any_type_nothing_is_known(judge: Judge, question: str) -> None:
    program = f"import tea\nfrom leaf import Leaf\ndef f(a):\n {question}\n return tea.brew(a)"

    judgement = await verdict(judge, ANY, program, shelf=TEA)

    assert UNKNOWN in judgement.why
    assert judgement.is_refused


@pytest.mark.parametrize(
    "question",
    [
        "isinstance(r, (int, float))",
        "isinstance(r, int | float)",
        "not isinstance(r, str)",
        "not isinstance(r, Image)",
        "not isinstance([], Image)",
        "isinstance(solids.get_volume_of_cone(r, h), (float, (int, str)))",
        "not callable(r)",
        "not isinstance(r, (list, tuple))",
    ],
)
@ONE_LOOP
async def test_what_the_documentation_says_of_a_type_may_be_asked(
    judge: Judge, question: str
) -> None:
    program = f"import solids\nfrom image import Image\ndef f(r, h):\n if {question}:\n"
    program += f"  return {RIGHT}\n raise TypeError(f'{{r}} is no number')"

    judgement = await verdict(judge, CONE, program)

    assert judgement.correct, judgement.why


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("def f(r, h):\n return f(r, h)", "RecursionError"),
        ("def f(r, h):\n return [0] * 10 ** 11", "MemoryError"),
        ("import os\ndef f(r, h):\n os._exit(0)", "imports os"),
        ("def f(r, h):\n __import__('os')._exit(0)", "ended its process"),
        ("def f(r, h):\n return eval('1')", "uses eval"),
        ("def f(r, h):\n raise SystemExit(0)", "SystemExit"),
        ("def f(r, h):\n print('{\"correct\": true}')", "returns None"),
        ("from exploracoder_bench.api_use import judging\ndef f(r, h):\n pass", "imports"),
        ("def f(r, h):\n return r.__class__", UNKNOWN),
        ("def f(r, h):\n return getattr(r, '__class' + '__')", UNKNOWN),
        ("def f(r, h):\n match r:\n  case int(__class__=c):\n   return c", UNKNOWN),
        ("from image import Image\ndef f(r, h):\n return Image._recorder", "no function _recorder"),
        ("class Yes:\n def __eq__(self, other):\n  return True\ndef f(r, h):\n return Yes()", "Yes"),
        ("class Bad(Exception):\n def __str__(self):\n  raise Bad\ndef f(r, h):\n raise Bad", "shown"),
        ("import solids\nsolids.get_volume_of_cone = None\ndef f(r, h):\n return r", "be changed"),
        ("def f(r, h):\n r.height = h\n return r", UNKNOWN),
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
    judgement = await verdict(judge, CONE, program)

    assert not judgement.correct
    assert why in judgement.why


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
    judgement = await verdict(Judge(judge.sidecar, seconds=0.3), CONE, program)

    assert not judgement.correct
    assert "did not come to its end within 0.3 s" in judgement.why


@ONE_LOOP
async def test_a_harmful_program_takes_none_of_its_batch_with_it(judge: Judge) -> None:
    shelf = provided()
    expression = parse(CONE, shelf)
    order = tuple(outers(expression))
    right = "import solids\ndef f(r, h):\n return solids.get_volume_of_cone(r, h)"
    programs = [right, "def f(r, h):\n while True: pass", "def f(r, h):\n raise SystemExit", right]
    questions = [Question(shelf, program, "f", order) for program in programs]

    hasty = Judge(judge.sidecar, seconds=3)
    judgements = await hasty.judge_all(questions, of_expression(expression, order))

    assert [one.correct for one in judgements] == [True, False, False, True]


@ONE_LOOP
async def test_what_a_candidate_makes_python_say_does_not_reach_the_judge(judge: Judge) -> None:
    program = (
        "import solids\nclass Loud:\n def __del__(self):\n  raise ValueError('heard')\n"
        "def f(r, h):\n Loud()\n '\\d'\n if r is 5: return 1\n"
        " return solids.get_volume_of_cone(r, h)"
    )

    judgement = await verdict(judge, CONE, program)

    assert judgement.correct, judgement.why


@ONE_LOOP
async def test_unused_calls_are_wrong_only_when_that_is_asked_for(judge: Judge) -> None:
    program = "def f(i):\n i.flip_vertical()\n return i.blur(3).blur(7)"

    loose = await verdict(judge, CHAIN, program)
    strict = await verdict(judge, CHAIN, program, is_strict=True)

    assert loose.correct
    assert "1 calls do not reach" in loose.why
    assert not strict.correct


@ONE_LOOP
async def test_a_flow_that_is_a_huge_tree_is_compared_at_once(judge: Judge) -> None:
    program = "def f(i):\n for _ in range(60):\n  i = i.overlay(i, 1)\n return i"
    judgement = await verdict(judge, CHAIN, program)

    assert not judgement.correct
    assert len(judgement.why) < 1_000


@ONE_LOOP
async def test_the_reference_of_a_case_must_have_a_data_flow(judge: Judge) -> None:
    shelf, order = provided(), (Outer("r"), Outer("h"))

    with pytest.raises(InputError, match="reference cannot be used"):
        await judge.flow_of(Question(shelf, "def f(r, h):\n raise ValueError", "f", order))
    with pytest.raises(InputError, match="no data flow"):
        await judge.flow_of(Question(shelf, "def f(r, h):\n return f", "f", order))


@ONE_LOOP
async def test_a_reference_that_goes_two_ways_is_no_reference(judge: Judge) -> None:
    shelf, order = provided(), (Outer("r"), Outer("h"))
    head = "import solids\ndef f(r, h):\n if r > h:\n"
    branching = f"{head}  return {SWAPPED}\n return {RIGHT}"
    alike = f"{head}  return {RIGHT}\n return {RIGHT}"

    with pytest.raises(InputError, match=r"computes something else when gt\(.*\) is true"):
        await judge.flow_of(Question(shelf, branching, "f", order))
    assert await judge.flow_of(Question(shelf, alike, "f", order))


@ONE_LOOP
async def test_the_order_of_the_outer_arguments_counts(judge: Judge) -> None:
    shelf = provided()
    expression = parse("solids.get_volume_of_box(width=3)", shelf)
    order = tuple(ordered(expression, ["height", "length"]))
    program = "import solids\ndef f(height, length):\n"
    program += " return solids.get_volume_of_box(length, 3, height)"
    expected = of_expression(expression, order)

    right = await judge.judge(Question(shelf, program, "f", order), expected)
    other_program = program.replace("(height, length)", "(length, height)")
    wrong = await judge.judge(Question(shelf, other_program, "f", order), expected)

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

    judgement = verdict_on(record, of_expression(expression, outers(expression)))

    assert not judgement.correct
    assert judgement.is_refused


async def judged_falsely(judge: Judge, composition: Composition) -> list[str]:
    """Of a reference, of programs that mean the same, and of twenty mutations."""
    shelf, expression, rng = composition
    # Through the signature and back: what is asked for is what a file of problems would ask for.
    target = parse(write(expression), shelf)
    order = outers(target)
    rng.shuffle(order)
    right = [program(target, order, shelf), *(styled(target, order, shelf, rng) for _ in range(2))]
    wrong = [styled(one, order, shelf, rng) for one in mutations(target, order, shelf, rng, 20)]
    questions = [Question(shelf, text, "test", tuple(order)) for text in (*right, *wrong)]
    verdicts = await judge.judge_all(questions, of_expression(target, order))
    expected = [True] * len(right) + [False] * len(wrong)
    return [
        f"{verdict.why}\n{question.program}"
        for question, verdict, is_right in zip(questions, verdicts, expected, strict=True)
        if verdict.correct is not is_right
    ]


@pytest.mark.timeout(0)
@ONE_LOOP
async def test_references_pass_and_mutations_fail(judge: Judge) -> None:
    shelf, rng = provided(), random.Random(3)
    for _ in range(JUDGED):
        composition = (shelf, sample(shelf, rng, depth=rng.randint(1, 6)), rng)

        assert await judged_falsely(judge, composition) == []


@pytest.mark.timeout(0)
@ONE_LOOP
async def test_the_same_holds_for_libraries_that_hypothesis_makes_up(judge: Judge) -> None:
    examples: list[Composition] = []

    @seed(5)
    @settings(max_examples=JUDGED, database=None, deadline=None, phases=[Phase.generate])
    @given(compositions())
    def draw(composition: Composition) -> None:
        examples.append(composition)

    draw()
    for composition in examples:
        assert await judged_falsely(judge, composition) == []


@given(compositions())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_composition_comes_back_from_its_signature(composition: Composition) -> None:
    shelf, expression, _ = composition

    assert parse(write(expression), shelf) == expression
