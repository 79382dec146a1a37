"""What is known of a model decides its settings; what is not known changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from exploracoder import prepare
from exploracoder.models.capabilities import Capabilities
from exploracoder.settings import PROFILES
from exploracoder.suitable_profile import profile_for

FAST: dict[str, Any] = {"prompt_tokens_per_s": 2000.0, "completion_tokens_per_s": 60.0}
SLOW: dict[str, Any] = {"prompt_tokens_per_s": 60.0, "completion_tokens_per_s": 9.0}
LARGE, SMALL = {"parameters": 14_000_000_000}, {"parameters": 1_500_000_000}

# What is known, whether it is the embedded one, the profile.
CHOICES: dict[str, tuple[dict[str, Any], bool, str]] = {
    "nothing, embedded": ({}, True, "small"),
    "nothing, another": ({}, False, "standard"),
    "small": (SMALL, False, "small"),
    "small and fast": (SMALL | FAST, False, "small"),
    "slow": (SLOW, False, "small"),
    "large and slow": (LARGE | SLOW, False, "small"),
    "fast": (FAST, False, "standard"),
    "large, fast, embedded": (LARGE | FAST, True, "standard"),
    "large, embedded": (LARGE, True, "small"),
    "fast, embedded": (FAST, True, "small"),
    "half of the speed": ({"completion_tokens_per_s": 5.0}, False, "standard"),
    "thinks, too slow for that": (
        {"reasons": True, "completion_tokens_per_s": 20.0},
        False,
        "small",
    ),
    "thinks, fast": ({"reasons": True, "completion_tokens_per_s": 60.0}, False, "standard"),
}


@pytest.mark.parametrize(("known", "is_embedded", "profile"), CHOICES.values(), ids=CHOICES)
def test_size_speed_and_thoughts_choose_the_profile(
    known: dict[str, Any], is_embedded: bool, profile: str
) -> None:
    assert profile_for(Capabilities(**known), is_embedded=is_embedded).profile == profile


def test_what_is_not_known_changes_nothing() -> None:
    unimportant = {"schema_mode": "ignored", "streaming": False, "several": False}

    fit = profile_for(Capabilities(**unimportant, logprobs=False), is_embedded=False)

    assert (fit.settings, fit.reasons) == ({}, ())


@pytest.mark.parametrize("tokens", [1024, 4096, 8192])
def test_in_a_short_context_a_prompt_has_its_place_and_so_has_the_answer(tokens: int) -> None:
    fit = profile_for(Capabilities(context_tokens=tokens), is_embedded=False)
    settings = PROFILES[fit.profile].model_copy(update=dict(fit.settings))

    assert settings.prompt_chars / 3 + settings.write_tokens <= 0.75 * tokens
    assert settings.step_tokens <= tokens / 4
    assert settings.doc_chars < PROFILES["standard"].doc_chars
    assert fit.reasons == (f"its context has {tokens} tokens",)


def test_thoughts_have_their_place_in_the_context() -> None:
    fields = {"context_tokens": 8192, "reasons": True}
    fit = profile_for(Capabilities(**fields), is_embedded=False)
    settings = PROFILES[fit.profile].model_copy(update=dict(fit.settings))

    assert settings.prompt_chars / 3 + settings.write_tokens + 4096 <= 8192


def test_the_embedded_model_as_it_is_needs_nothing_else() -> None:
    capabilities = Capabilities(context_tokens=16_384, tools=False, **SMALL, **SLOW)

    assert profile_for(capabilities, is_embedded=True).settings == {}


def test_a_model_that_thinks_is_asked_for_no_more_than_is_needed() -> None:
    fit = profile_for(Capabilities(reasons=True), is_embedded=False)

    assert fit.settings == {"stop_at_first": True, "rerank": "none"}
    assert fit.in_words == (
        "The profile standard suits the model: it thinks before each reply."
        " Other than in that profile: stop-at-first True, rerank none."
    )


def test_a_model_that_calls_no_functions_is_offered_none() -> None:
    assert profile_for(Capabilities(tools=False), is_embedded=False).settings == {
        "functions": "off"
    }
    assert profile_for(Capabilities(tools=True), is_embedded=False).settings == {}


def test_what_was_asked_for_goes_before_what_suits() -> None:
    capabilities = Capabilities(context_tokens=4096, tools=False)

    def made(**options: Any) -> Any:
        return prepare.settings_for(
            "exploration", is_embedded=False, capabilities=capabilities, **options
        )

    assert made().functions == "off"
    assert made(settings={"functions": "always"}).functions == "always"
    assert made(profile="standard") == PROFILES["standard"]


def test_what_a_paper_gives_values_for_goes_before_what_suits() -> None:
    capabilities = Capabilities(reasons=True)

    paper = prepare.settings_for("capir", is_embedded=False)
    settings = prepare.settings_for("capir", is_embedded=False, capabilities=capabilities)

    assert settings.rerank == paper.rerank == "model"
