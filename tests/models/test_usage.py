from __future__ import annotations

from exploracoder.models.model_cost import Usage


def test_usages_add_up() -> None:
    one = Usage(calls=1, prompt_tokens=10, completion_tokens=2, cached_tokens=4, seconds=0.5)

    assert one + one == Usage(
        calls=2, prompt_tokens=20, completion_tokens=4, cached_tokens=8, seconds=1.0
    )
    assert one.total_tokens == 12


def test_what_was_added_since_is_the_difference() -> None:
    before = Usage(calls=1, prompt_tokens=10, seconds=0.5)
    after = before + Usage(calls=2, completion_tokens=3, seconds=1.0)

    assert after.minus(before) == Usage(calls=2, completion_tokens=3, seconds=1.0)
