"""What the next sample may cost."""

from __future__ import annotations

from exploracoder.models.model_cost import Price, Usage
from exploracoder_bench.spending import Budget

from .made_results import apart, made

PRICE = Price(prompt=1000, completion=1000)
# 1.1 at that price.
SAMPLE = made()


def test_of_the_first_sample_nothing_is_known_and_it_begins_alone() -> None:
    spending = Budget(PRICE, 1.0, (), Usage())

    assert not spending.could_pass("direct", [])
    assert spending.could_pass("direct", ["direct"])
    assert Budget(PRICE, 1.0, (), Usage(prompt_tokens=1000)).could_pass("direct", [])


def test_a_sample_may_cost_what_the_dearest_of_its_method_did_or_of_all() -> None:
    dear = made(method="ours", prompt_tokens=9000)
    spending = Budget(PRICE, 21.0, (SAMPLE, made(seed=1), dear), Usage())

    assert not spending.could_pass("direct", ["direct", "direct", "direct", "direct", "direct"])
    assert spending.could_pass("direct", ["ours"])
    assert not spending.could_pass("other", [])
    assert spending.could_pass("other", ["direct"])


def test_what_could_not_ask_the_model_says_nothing_about_the_next() -> None:
    result = apart(prompt_tokens=0, completion_tokens=0)

    assert Budget(PRICE, 1.0, (result,), Usage()).could_pass("direct", ["direct"])


def test_samples_that_do_not_count_cost_money_too() -> None:
    result = apart(prompt_tokens=2000, completion_tokens=0)

    assert Budget(PRICE, 2.0, (result,), Usage()).could_pass("direct", [])
    assert not Budget(PRICE, None, (result,), Usage()).could_pass("direct", ["direct"] * 99)
