"""Problems of api_use: libraries and signatures that are refused, noise, examples, benchmarks."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder_bench.api_use import noise
from exploracoder_bench.api_use.benchmarks import BENCHMARKS, open_benchmark, problem_file, sampled
from exploracoder_bench.api_use.composed_problems import Problem, prepare
from exploracoder_bench.api_use.distractors import documented, keys_of
from exploracoder_bench.api_use.expressions import Outer, outers
from exploracoder_bench.api_use.invented_libraries import Shelf
from exploracoder_bench.api_use.library_files import as_json, parse, provided, shelf_of
from exploracoder_bench.api_use.signature import ordered, write
from exploracoder_bench.api_use.signature import parse as parse_signature

CONE = Problem(
    id="one",
    signature="solids.get_volume_of_cone(radius=5)",
    description="works out how much space a cone fills",
    func_name="compute_cone",
    num_distractors=6,
)


def made(**functions: object) -> str:
    return json.dumps({"id": "tea", "style": "import", "functions": [functions]})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("3", "describes no library"),
        ("[3]", "0: Input should be a dictionary"),
        ('{"id": "a", "functions": []}', "no functions"),
        (
            '{"id": "a", "style": "both", "functions": {"f": {}}}',
            "0.style: Input should be 'import' or 'class'",
        ),
        ('{"id": "a", "functions": {"f": {}, "f": {}}}', "'f' is there twice"),
        ('{"id": "a", "colour": 1, "functions": {"f": {}}}', "0.colour: Unexpected"),
        ('[{"id": "a", "functions": {"f": {}}}, {"id": "a", "functions": {"f": {}}}]', "twice"),
        (made(name="f", args=["x", "x"]), "argument 'x' is defined twice"),
        (made(name="class"), "'class' is no name"),
        (made(name="__class__"), "'__class__' is no name"),
        (made(name="two words"), "'two words' is no name"),
        (made(name="ﬁt"), "is no name"),
        (
            made(name="f", args=[{"name": "x", "type": "leaf"}]),
            "type 'leaf', which nothing defines",
        ),
        (made(name="f", returns="leaf"), "type 'leaf', which nothing defines"),
        (made(name=3), "functions.0.name: Input should be a valid string"),
        (made(name="f", args=3), "functions.0.args: Input should be"),
        ('{"id": "a", "types": {"x": "int"}, "functions": {"f": {}}}', "types: Unexpected"),
        ("[]", "describes no library"),
        ("{}", "describes no library"),
        ('{"id": "float", "style": "class", "functions": {"f": {}}}', "'float' is a type"),
        ('{"id": "a", "name": "str", "functions": {"f": {}}}', "'str' is a type"),
        ('{"id": "a", "style": "class", "functions": {"f": {"args": ["self"]}}}', "'self'"),
        ('{"id": "a", "name": "recorded_values", "functions": {"f": {}}}', "'recorded_values'"),
        ('{"id": "os", "functions": {"f": {}}}', "'os' would hide"),
        ('{"id": "a", "name": "math", "style": "class", "functions": {"f": {}}}', "'math'"),
        ('{"id": "a", "name": "exploracoder", "functions": {"f": {}}}', "'exploracoder'"),
        ('{"id": "exploracoder_kernel", "functions": {"f": {}}}', "'exploracoder_kernel'"),
    ],
)
def test_libraries_that_cannot_be_are_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse(text, "tea.json")

    assert why in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "os", "name": "oak", "functions": {"f": {"args": ["self"]}}}',
        '{"id": "a", "functions": {"print": {}, "recorded": {}, "Recorded": {}}}',
    ],
)
def test_names_that_hide_nothing_are_no_mistake(text: str) -> None:
    assert parse(text, "tea.json").libraries


def test_libraries_whose_types_lead_to_each_other_are_no_mistake() -> None:
    brew = {"args": [{"name": "grams", "type": "float"}], "returns": "tea"}
    values = {"leaf": {"brew": brew}, "tea": {"dry": {"returns": "leaf"}}}
    shelf = shelf_of(
        {id: {"style": "class", "functions": one} for id, one in values.items()}, "values"
    )

    chain = parse_signature("leaf.brew(grams=2).dry().brew()", shelf)

    assert [one.name for one in outers(chain)] == ["leaf", "grams"]


def test_the_provided_libraries_come_back_from_json() -> None:
    shelf = provided()

    again = shelf_of(json.loads(json.dumps(as_json(shelf))), "again")

    assert again == shelf
    assert {one.style for one in shelf} == {"import", "class"}


def test_what_is_not_mentioned_stays_free_and_no_two_share_an_argument() -> None:
    chain = parse_signature("image.blur().rotate(degrees=turn).distort()", provided())

    assert ordered(chain, None) == [
        Outer("image", "image"),
        Outer("pixels", "int"),
        Outer("turn", "float"),
        Outer("pixels2", "int"),
    ]
    assert parse_signature(write(chain), provided()) == chain


@pytest.mark.parametrize(
    ("signature", "why"),
    [
        ("solids", "no call"),
        ("solids.get_volume_of_cone", "no call"),
        ("get_volume_of_cone()", "library.function"),
        ("solids.get_volume_of_cone(5)", "by name"),
        ("solids.get_volume_of_cone(**x)", "by name"),
        ("solids.get_volume_of_cone(size=5)", "no argument 'size'"),
        ("solids.get_volume_of_cone(radius='5')", "takes float, not str"),
        ("solids.get_volume_of_cone(radius=image.blur())", "takes float, not image"),
        ("solids.get_volume_of_cone(radius=solids)", "is a library"),
        ("solids.get_volume_of_cone().blur()", "returns float, which has no functions"),
        ("solids.get_volume_of_cone(radius=x, height=[1])", "no plain constant"),
        ("image.overlay(other=x, opacity=x)", "used as image and as float"),
        ("solids.melt()", "no function 'melt'"),
        ("wood.burn()", "no library 'wood'"),
        ("solids.get_volume_of_cone(radius=__import__('os'))", "library"),
        ("(" * 4_000, "cannot be read"),
        ("x" * 6_000, "at most"),
    ],
)
def test_a_signature_out_of_the_language_is_refused_with_the_reason(
    signature: str, why: str
) -> None:
    with pytest.raises(InputError) as refusal:
        parse_signature(signature, provided())

    assert why in str(refusal.value)


def test_exchanged_names_are_a_permutation_that_renames_once_and_leaves_none() -> None:
    shelf = provided()
    keys = [(one.id, function.name) for one in shelf for function in one.functions]

    names = noise.new_names(keys, "scrambled", random.Random(1))
    noisy = noise.with_names(shelf, names)

    assert sorted((id, names[id, name]) for id, name in keys) == sorted(keys)
    assert all(names[key] != key[1] for key in keys)
    for before, after in zip(shelf, noisy, strict=True):
        for function, other in zip(before.functions, after.functions, strict=True):
            assert other.name == names[before.id, function.name]
            assert (other.doc, other.arguments) == (function.doc, function.arguments)


def test_under_exchanged_names_the_right_function_is_the_one_with_the_description() -> None:
    shelf = provided("solids")
    prepared_problem = prepare(CONE.model_copy(update={"function_noise_type": "scrambled"}), shelf)

    function = prepared_problem.shelf.find("solids").function(prepared_problem.target.function)

    assert function.doc == shelf.find("solids").function("get_volume_of_cone").doc
    assert function.name != "get_volume_of_cone"
    assert f"solids.{function.name}(5, height)" in prepared_problem.reference
    documentation = prepared_problem.task.split("Write a function")[0]
    assert documentation.count(f"def solids.{function.name}(") == 1


@pytest.mark.parametrize("kind", ["empty", "scrambled"])
def test_noise_on_descriptions_leaves_names_and_arguments(kind: noise.DescriptionNoise) -> None:
    clean = prepare(CONE, provided("solids"))
    noisy = prepare(CONE.model_copy(update={"description_noise_type": kind}), provided("solids"))

    before = {one.name: one for one in clean.shelf.find("solids").functions}
    after = {one.name: one for one in noisy.shelf.find("solids").functions}
    assert noisy.shown_keys == clean.shown_keys
    assert {one.name: one.arguments for one in after.values()} == {
        one.name: one.arguments for one in before.values()
    }
    assert all(after[name].doc != before[name].doc for _, name in noisy.shown_keys)


def test_nothing_can_be_exchanged_with_itself() -> None:
    alone = CONE.model_copy(update={"num_distractors": 0, "function_noise_type": "scrambled"})

    with pytest.raises(InputError, match="Ask for distractors"):
        prepare(alone, provided("solids"))


@pytest.mark.parametrize(("place", "at"), [(0, 0), (4, 4), ("middle", 2)])
def test_the_target_stands_where_it_was_asked_for(place: int | str, at: int) -> None:
    shelf = provided()
    target = parse_signature("solids.get_volume_of_cone()", shelf)
    shot = parse_signature("solids.get_volume_of_cube()", shelf)

    keys = documented(shelf, target, [shot], distractors=4, place=place, rng=random.Random(0))

    assert len(keys) == 5
    assert keys[at] == ("solids", "get_volume_of_cone")
    assert ("solids", "get_volume_of_cube") in keys
    assert {id for id, _ in keys} == {"solids"}


def test_the_functions_of_a_chain_are_documented_apart_and_in_another_order() -> None:
    shelf = provided("image")
    in_order, together, long = 0, 0, 0
    for problem in BENCHMARKS["compositionality"]():
        prepared_problem = prepare(problem, shelf)
        keys = keys_of(prepared_problem.target)
        places = [prepared_problem.shown_keys.index(key) for key in keys]
        if len(keys) >= 4:
            long += 1
            in_order += places == sorted(places)
            together += max(places) - min(places) == len(keys) - 1

    assert long > 100
    # By chance it is one order in 24, and one place in 15 for four functions among nine.
    assert in_order < long / 12
    assert together < long / 6


def test_each_chain_has_the_same_number_of_distractors_whatever_its_length() -> None:
    shelf = provided("image")
    counts = set()
    for problem in BENCHMARKS["compositionality"]():
        prepared_problem = prepare(problem, shelf)
        counts.add(len(prepared_problem.shown_keys) - len(keys_of(prepared_problem.target)))

    assert counts == {5}


@pytest.mark.parametrize("place", [0, 2, "middle"])
def test_the_functions_of_a_composition_stay_together_where_a_place_is_asked_for(
    place: int | str,
) -> None:
    shelf = provided("image")
    target = parse_signature("image.blur(pixels=1).invert().to_grey().flip_vertical()", shelf)
    orders = set()
    for seed in range(20):
        keys = documented(shelf, target, [], distractors=5, place=place, rng=random.Random(seed))
        at = 2 if place == "middle" else int(place)
        block = keys[at : at + 4]
        assert sorted(block) == sorted(keys_of(target))
        orders.add(tuple(block))

    assert len(orders) > 5


@pytest.mark.parametrize(("distractors", "place"), [(1000, "middle"), (3, 4), (3, -1)])
def test_distractors_that_cannot_be_are_refused(distractors: int, place: int | str) -> None:
    shelf = provided()
    target = parse_signature("solids.get_volume_of_cone()", shelf)

    with pytest.raises(InputError, match=r"Ask for fewer|no place"):
        documented(shelf, target, [], distractors=distractors, place=place, rng=random.Random(0))


def test_the_benchmarks_are_as_large_as_those_published_and_every_problem_can_be_asked() -> None:
    for name, count in {
        "compositionality": 160, "distractor": 36, "semantics": 175, "arguments": 581,
    }.items():  # fmt: skip
        problems = list(BENCHMARKS[name]())
        shelf = provided("image" if name == "compositionality" else "solids")
        prompts = [prepare(one, shelf).task for one in problems]

        assert len({one.id for one in problems}) == len(prompts) == count


def shots(problem: Problem) -> str:
    return problem.benchmark.split("-", 2)[2]


def test_each_kind_of_examples_has_as_many_as_it_says() -> None:
    kinds = Counter((shots(one), len(one.fewshot)) for one in BENCHMARKS["arguments"]())

    assert kinds == {
        ("zero", 0): 83, ("in-1", 1): 83, ("in-2", 2): 83, ("out-1", 1): 83, ("out-2", 2): 83,
        ("mixed-in-out", 2): 83, ("mixed-out-in", 2): 83,
    }  # fmt: skip


def test_examples_within_the_domain_have_the_target_s_order_and_those_outside_another() -> None:
    def places(signature: str, order: tuple[str, ...] | None) -> list[int]:
        call = parse_signature(signature, provided("solids"))
        names = [name for name, _ in call.arguments]
        return [names.index(name) for name in order or ()]

    for problem in BENCHMARKS["arguments"]():
        own = places(problem.signature, problem.outer_order)
        same = [places(one.signature, one.outer_order) == own for one in problem.fewshot]

        assert same == {
            "zero": [], "in-1": [True], "in-2": [True, True], "out-1": [False],
            "out-2": [False, False], "mixed-in-out": [True, False], "mixed-out-in": [False, True],
        }[shots(problem)]  # fmt: skip


@pytest.mark.parametrize("shelf", [provided(), Shelf(provided().libraries[:1])])
def test_problems_come_back_from_their_file(tmp_path: Path, shelf: Shelf) -> None:
    problems = sampled(shelf, 30, depth=4, distractors=3, seed=1)
    file = tmp_path / "problems.json"
    file.write_text(problem_file(problems, shelf))

    assert open_benchmark(str(file)) == (shelf, problems)
    assert ("libraries" in json.loads(file.read_text())) is (shelf != provided())
    assert len({prepare(one, shelf).problem.id for one in problems}) == 30


ONE = '{"id": "x", "signature": "s.f()", "description": "", "func_name": "f"}'


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{}", '{"problems": []}', '{"problems": [{"id": "x"}]}', "\x00",
     f'{{"problems": [{ONE}, {ONE}]}}'],
)  # fmt: skip
def test_a_file_without_problems_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "problems.json"
    file.write_text(text)

    with pytest.raises(InputError, match=r"problems\.json"):
        open_benchmark(str(file))
