from __future__ import annotations

from exploracoder.models import Usage, UsageMeter


def test_usages_add_up() -> None:
    one = Usage(calls=1, prompt_tokens=10, completion_tokens=2, cached_tokens=4, seconds=0.5)

    assert one + one == Usage(
        calls=2, prompt_tokens=20, completion_tokens=4, cached_tokens=8, seconds=1.0
    )
    assert one.total_tokens == 12


def test_the_meter_counts_by_step_and_in_total() -> None:
    meter = UsageMeter()
    meter.record("plan", Usage(calls=1, prompt_tokens=10))
    meter.record("step-1", Usage(calls=1, prompt_tokens=5))
    meter.record("plan", Usage(calls=1, prompt_tokens=1))

    assert list(meter.by_step) == ["plan", "step-1"]
    assert meter.by_step["plan"] == Usage(calls=2, prompt_tokens=11)
    assert meter.total == Usage(calls=3, prompt_tokens=16)


def test_what_the_cache_answered_is_not_counted_as_asked() -> None:
    meter = UsageMeter()
    meter.record("plan", Usage(calls=1, prompt_tokens=10), from_cache=True)

    assert meter.total == Usage()
    assert meter.saved == Usage(calls=1, prompt_tokens=10)
