from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from exploracoder.models.model_cost import Price
from exploracoder_bench.api_names import called_names, gold_names
from exploracoder_bench.intervals import bootstrap, ratio, sign_test
from exploracoder_bench.metrics import (
    compare,
    estimate_at_k,
    invented,
    is_pass,
    pass_at_k,
    recall,
    success_at_k,
    summarize,
)

from .made_results import apart, failed, made

ALL_SMALL = [(n, c, k) for n in range(1, 8) for c in range(n + 1) for k in range(1, n + 1)]


def test_pass_at_k_is_the_share_of_all_choices_of_k_samples_in_which_one_passes() -> None:
    for n, c, k in ALL_SMALL:
        choices = list(combinations([True] * c + [False] * (n - c), k))
        share = sum(map(any, choices)) / len(choices)

        assert pass_at_k(n, c, k) == pytest.approx(share, abs=1e-12)


def test_pass_at_k_agrees_with_its_closed_form_as_a_product() -> None:
    for n, c, k in [*ALL_SMALL, (200, 3, 100), (200, 199, 1), (1000, 1, 10)]:
        misses = math.prod(1 - k / i for i in range(n - c + 1, n + 1)) if n - c >= k else 0.0

        assert pass_at_k(n, c, k) == pytest.approx(1 - misses, abs=1e-9)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 4), (3, 4, 1), (3, -1, 1), (0, 0, 1)])
def test_pass_at_k_is_refused_where_it_is_not_known(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="is not known"):
        pass_at_k(n, c, k)


def test_the_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    draw = random.Random(3)
    rounds, hits = 200, 0
    for _ in range(rounds):
        estimate = bootstrap([float(draw.random() < 0.4) for _ in range(60)])
        hits += estimate.low <= 0.4 <= estimate.high

    assert 0.88 <= hits / rounds <= 0.99


def test_an_interval_is_the_same_on_every_call_and_unknown_of_nothing() -> None:
    values = [0.0, 1.0, 0.5, 0.25]

    assert bootstrap(values) == bootstrap(values)
    assert str(bootstrap([])) == "-"


@pytest.mark.parametrize(
    ("value", "problems", "low", "high"),
    # Wilson's interval for none and for all of n: z² / (n + z²), with z = 1.96.
    [(0.0, 6, 0.0, 0.390), (1.0, 6, 0.610, 1.0), (0.0, 1, 0.0, 0.793), (1.0, 90, 0.959, 1.0)],
)
def test_problems_that_all_came_out_alike_leave_room_for_others(
    value: float, problems: int, low: float, high: float
) -> None:
    estimate = bootstrap([value] * problems)

    assert (estimate.value, estimate.problems) == (value, problems)
    assert (estimate.low, estimate.high) == (
        pytest.approx(low, abs=1e-3),
        pytest.approx(high, abs=1e-3),
    )


def test_equal_shares_that_are_neither_none_nor_all_have_room_on_both_sides() -> None:
    for estimate in (
        bootstrap([0.5] * 6),
        ratio([(1, 2), (2, 4), (4, 8), (1, 2), (3, 6), (5, 10)]),
    ):
        assert estimate.low == pytest.approx(0.5 - 0.195, abs=1e-3)
        assert estimate.high == pytest.approx(0.5 + 0.195, abs=1e-3)


def test_what_is_no_share_has_the_interval_that_resampling_gives_it() -> None:
    seconds = summarize([made(problem=name) for name in "ab"]).mean_seconds

    assert (seconds.low, seconds.value, seconds.high) == (10.0, 10.0, 10.0)


def test_the_sign_test_agrees_with_counting_all_throws() -> None:
    for n in range(11):
        for better in range(n + 1):
            edge = min(better, n - better)
            as_far = [k for k in range(n + 1) if min(k, n - k) <= edge]
            probability = sum(math.comb(n, k) for k in as_far) / 2**n

            assert sign_test(better, n - better) == pytest.approx(probability)


def test_problems_weigh_the_same_however_many_samples_they_have() -> None:
    many = [made(problem="a", seed=seed) for seed in range(9)]

    estimate = estimate_at_k([*many, failed(problem="b")], 1, is_pass)

    assert (estimate.value, estimate.problems) == (0.5, 2)


def test_what_is_not_the_methods_fault_is_no_sample() -> None:
    results = [made(), apart(problem="b"), failed(problem="c", executed=True)]

    assert estimate_at_k(results, 1, is_pass).value == 0.5
    assert success_at_k(results, 1).value == 1.0
    assert summarize(results).apart == 1


def test_a_function_that_was_defined_and_could_not_be_called_is_no_success() -> None:
    results = [failed(ran=True, executed=False), failed(problem="b", ran=True, executed=True)]

    assert success_at_k(results, 1).value == 0.5


def test_a_line_of_an_earlier_version_says_nothing_of_success() -> None:
    old = failed(executed=None)

    assert success_at_k([old], 1).problems == 0
    assert success_at_k([old, failed(problem="b")], 1).problems == 1


def test_a_pair_is_compared_on_the_problems_that_both_have() -> None:
    first = [failed(problem=name) for name in "abcdefgh"] + [made(problem="only")]
    second = [made(problem=name) for name in "abcdefg"] + [failed(problem="h")]

    comparison = compare(first, second)

    assert (comparison.first, comparison.second) == (0.0, 0.875)
    assert comparison.difference.value == pytest.approx(0.875)
    assert comparison.is_clear
    assert (len(comparison.better), comparison.worse) == (7, ())
    assert not compare(first, first).is_clear


def test_a_few_problems_make_no_difference_clear() -> None:
    for names, is_clear in (("a", False), ("ab", False), ("abcde", False), ("abcdef", True)):
        worst, best = ([make(problem=one) for one in names] for make in (failed, made))

        comparison = compare(worst, best)

        assert (comparison.difference.value, comparison.is_clear) == (1.0, is_clear)
        assert comparison.difference.low < 0.3
        assert compare(best, worst).is_clear == is_clear


def test_problems_that_came_out_the_same_leave_room_for_a_difference() -> None:
    same = [made(problem=name) for name in "abcdef"]

    difference = compare(same, same).difference

    assert difference.low == pytest.approx(-0.390, abs=1e-3)
    assert difference.high == pytest.approx(0.390, abs=1e-3)


def test_a_summary_adds_up_chains_recall_and_money() -> None:
    chain = {"explored": 2, "ran": 2, "apis": 3, "recommended": ("tea.Pot.brew", "tea.cup")}
    broken = {"explored": 2, "ran": 1, "broken_at": 2, "apis": 1, "recommended": ("tea.cup",)}
    results = [
        made(subtasks=2, chain=chain, gold=("brew", "pour")),
        failed(problem="b", subtasks=2, chain=broken, gold=("cup",)),
        failed(problem="c", cached_calls=1, seconds=0.1),
    ]

    sums = summarize(results, Price(prompt=1.0, completion=10.0))

    assert (sums.chain_rate, sums.apis_per_subtask) == (0.5, 1.0)
    assert (sums.subtasks, sums.subtask_rate.value) == (2.0, 0.75)
    assert sums.recall == pytest.approx((0.5 + 1.0) / 2)
    assert sums.money == pytest.approx((3 * 1000 * 1 + 3 * 100 * 10) / 1e6)
    assert sums.seconds == 10.0
    assert sums.test_rate == pytest.approx(1 / 3)
    assert math.isnan(recall(made()))


def test_the_share_of_subtasks_that_ran_is_of_all_subtasks_and_not_of_chains() -> None:
    long = made(subtasks=9, chain={"explored": 9, "ran": 3, "broken_at": 4})
    short = made(problem="b", subtasks=1, chain={"explored": 1, "ran": 1})

    sums = summarize([long, short])

    assert (sums.chain_rate, sums.subtask_rate.value) == (0.5, 0.4)


def test_a_plan_that_nobody_explored_is_no_chain() -> None:
    sums = summarize([made(method="capir", subtasks=3), failed(problem="b", subtasks=3)])

    assert math.isnan(sums.chain_rate)
    assert math.isnan(sums.apis_per_subtask)
    assert math.isnan(sums.subtasks)
    assert sums.subtask_rate.problems == 0


def test_the_names_that_a_known_solution_calls_are_those_of_libraries() -> None:
    solution = "def f(x):\n    y = helper(len(x))\n    return Pot(y).brew(2).pour().brew(1)\n"

    names = gold_names(solution, "def helper(n): return n\n")
    assert sorted(names) == ["Pot", "brew", "pour"]
    assert gold_names("not python (") == ()


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import tealeaf as tea\nprint(tea.Pot(1).boil())", ["Pot", "boil"]),
        (
            "from tealeaf import pick\nleaves = pick(text)\nleaves.steep_all()",
            ["pick", "steep_all"],
        ),
        ("def f(pot, then):\n    return then(pot.boil())", ["boil"]),
        ("weigh = lambda leaf: 1\nweigh(1)\ndef own(): pass\nown()", []),
        ("', '.join(['a']).split()\nx = []\nx.append(sum(x))", []),
        ("import io, re\nb = io.StringIO()\nb.getvalue()\nre.match('a', b).group()", []),
        ("from numpy import array\nwith open(array(1).tolist()) as f:\n    f.read_all()", []),
        ("import math\nfor n in math.parts():\n    n.half()", []),
        ("leaves = data.pick()\nfor leaf in leaves:\n    leaf.index()", ["pick", "index"]),
        ("not python (", []),
    ],
)
def test_the_names_of_a_library_are_told_from_those_of_python_and_other_modules(
    code: str, found: list[str]
) -> None:
    names = called_names(code, "data = [1]", {"tealeaf"}, {"pick", "Pot", "brew", "index"})

    assert sorted(names) == sorted(found)


def test_the_share_of_names_that_do_not_exist_is_a_mean_over_problems() -> None:
    results = [
        made(called=("pick", "boil"), unknown=("boil",)),
        failed(called=("pick", "brew")),
        failed(problem="b", called=("boil",), unknown=("boil",)),
        made(problem="c"),
    ]

    share = invented(results)

    assert (share.value, share.problems) == ((0.25 + 1.0) / 2, 2)
    assert math.isnan(invented([made()]).value)
