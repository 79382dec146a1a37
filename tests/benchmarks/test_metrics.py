from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from exploracoder_bench.chains import gold_names
from exploracoder_bench.metrics import (
    bootstrap,
    compare,
    estimate_at_k,
    is_pass,
    is_success,
    pass_at_k,
    recall,
    summarize,
)
from exploracoder_bench.plan import Price

from .made_results import apart, failed, made

ALL_SMALL = [(n, c, k) for n in range(1, 8) for c in range(n + 1) for k in range(1, n + 1)]


def test_pass_at_k_is_the_share_of_all_choices_of_k_samples_in_which_one_passes() -> None:
    for n, c, k in ALL_SMALL:
        chosen = list(combinations([True] * c + [False] * (n - c), k))
        share = sum(map(any, chosen)) / len(chosen)

        assert pass_at_k(n, c, k) == pytest.approx(share, abs=1e-12)


def test_pass_at_k_agrees_with_its_closed_form_as_a_product() -> None:
    for n, c, k in [*ALL_SMALL, (200, 3, 100), (200, 199, 1), (1000, 1, 10)]:
        misses = math.prod(1 - k / i for i in range(n - c + 1, n + 1)) if n - c >= k else 0.0

        assert pass_at_k(n, c, k) == pytest.approx(1 - misses, abs=1e-9)


@pytest.mark.parametrize(("rate", "n", "k"), [(0.1, 10, 1), (0.1, 10, 5), (0.5, 6, 3)])
def test_pass_at_k_is_unbiased_where_the_share_of_passes_is_known(
    rate: float, n: int, k: int
) -> None:
    draw = random.Random(7)
    rounds = 20_000

    found = [pass_at_k(n, sum(draw.random() < rate for _ in range(n)), k) for _ in range(rounds)]

    truth = 1 - (1 - rate) ** k
    assert sum(found) / rounds == pytest.approx(truth, abs=5 * 0.5 / math.sqrt(rounds))


@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 4), (3, 4, 1), (3, -1, 1), (0, 0, 1)])
def test_pass_at_k_is_refused_where_it_is_not_known(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="is not known"):
        pass_at_k(n, c, k)


def test_the_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    draw = random.Random(3)
    rounds, held = 200, 0
    for _ in range(rounds):
        found = bootstrap([float(draw.random() < 0.4) for _ in range(60)])
        held += found.low <= 0.4 <= found.high

    assert 0.88 <= held / rounds <= 0.99


def test_an_interval_is_the_same_on_every_call_and_unknown_of_nothing() -> None:
    values = [0.0, 1.0, 0.5, 0.25]

    assert bootstrap(values) == bootstrap(values)
    assert str(bootstrap([])) == "-"


def test_problems_weigh_the_same_however_many_samples_they_have() -> None:
    many = [made(problem="a", seed=seed) for seed in range(9)]

    found = estimate_at_k([*many, failed(problem="b")], 1, is_pass)

    assert (found.value, found.problems) == (0.5, 2)


def test_what_is_not_the_methods_fault_is_no_sample() -> None:
    results = [made(), apart(problem="b"), failed(problem="c", ran=True)]

    assert estimate_at_k(results, 1, is_pass).value == 0.5
    assert estimate_at_k(results, 1, is_success).value == 1.0
    assert summarize(results).apart == {"harness": 1}


def test_a_pair_is_compared_on_the_problems_that_both_have() -> None:
    first = [failed(problem=name) for name in "abcdefgh"] + [made(problem="only")]
    second = [made(problem=name) for name in "abcdefg"] + [failed(problem="h")]

    paired = compare(first, second)

    assert (paired.first, paired.second) == (0.0, 0.875)
    assert paired.difference.value == pytest.approx(0.875)
    assert paired.is_clear
    assert (len(paired.better), paired.worse) == (7, ())
    assert not compare(first, first).is_clear


def test_a_summary_adds_up_chains_recall_and_money() -> None:
    chain = {"broken_at": 0, "apis": 3, "recommended": ("tea.Pot.brew", "tea.cup")}
    broken = {"broken_at": 2, "apis": 1, "recommended": ("tea.cup",)}
    results = [
        made(subtasks=2, chain=chain, gold=("brew", "pour")),
        failed(problem="b", subtasks=2, chain=broken, gold=("cup",)),
        failed(problem="c", cached_calls=1, seconds=0.1),
    ]

    sums = summarize(results, Price(prompt=1.0, completion=10.0))

    assert (sums.chain_rate, sums.apis_per_subtask) == (0.5, 1.0)
    assert sums.recall == pytest.approx((0.5 + 1.0) / 2)
    assert sums.money == pytest.approx((3 * 1000 * 1 + 3 * 100 * 10) / 1e6)
    assert sums.seconds == 10.0
    assert sums.test_rate == pytest.approx(1 / 3)
    assert math.isnan(recall(made()))


def test_the_names_that_a_known_solution_calls_are_those_of_libraries() -> None:
    solution = "def f(x):\n    y = helper(len(x))\n    return Pot(y).brew(2).pour().brew(1)\n"

    found = gold_names(solution, "def helper(n): return n\n")
    assert sorted(found) == ["Pot", "brew", "pour"]
    assert gold_names("not python (") == ()
