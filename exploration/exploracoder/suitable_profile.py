"""Which settings suit a model, given its capabilities. Unknown ones change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from exploracoder.models.capabilities import UNKNOWN, Capabilities
from exploracoder.settings import PROFILES, ProfileName, Settings

# Models of one or two billion parameters need the profile `small`.
_SMALL_PARAMETERS = 3_000_000_000
# How long a client waits for an answer.
_LONGEST_ANSWER_S = 300.0
# Code and docs have about three characters to a token.
_CHARS_PER_TOKEN = 3
# What reasoning may take on top of the answer.
_THOUGHT_TOKENS = 4096
# The shortest part of a prompt that is useful, and the shortest answer.
_LEAST_CHARS, _LEAST_TOKENS = 300, 64


_Wanted = tuple[dict[str, object], str]


class Fit(NamedTuple):
    """A profile for a model, the settings that differ from it, and the reasons in words."""

    profile: ProfileName
    settings: Mapping[str, object]
    reasons: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The profile, why, and what differs from it, in a sentence or two."""
        why = f": {'; '.join(self.reasons)}" if self.reasons else ""
        changes = (f"{name.replace('_', '-')} {value}" for name, value in self.settings.items())
        others = f" Other than in that profile: {', '.join(changes)}." if self.settings else ""
        return f"The profile {self.profile} suits the model{why}.{others}"


def profile_for(capabilities: Capabilities = UNKNOWN, *, is_embedded: bool) -> Fit:
    """The profile and settings that suit a model.

    Args:
        capabilities: What is known of it.
        is_embedded: Whether it is the embedded one, which counts as small unless known better.
    """
    profile, reason = _profile(capabilities, "small" if is_embedded else "standard")
    base, settings, reasons = PROFILES[profile], dict[str, object](), [reason] if reason else []
    for rule in (_short_context, _thoughts, _no_functions):
        values, why = rule(capabilities, base)
        changes = {name: one for name, one in values.items() if one != getattr(base, name)}
        settings |= changes
        reasons += [why] if changes else []
    return Fit(profile, settings, tuple(reasons))


def _profile(capabilities: Capabilities, usual: ProfileName) -> tuple[ProfileName, str]:
    size, seconds = capabilities.parameters, _answer_seconds(capabilities)
    if size is not None and size < _SMALL_PARAMETERS:
        return "small", f"it has {size / 1e9:.2g} thousand million parameters"
    if seconds is not None and seconds > _LONGEST_ANSWER_S:
        return "small", (
            f"all cells in one answer would take about {seconds:.0f} s, and an answer has"
            f" {_LONGEST_ANSWER_S:.0f} s"
        )
    if size is not None and seconds is not None:
        return "standard", (
            f"it has {size / 1e9:.2g} thousand million parameters, and all cells in one answer take"
            f" about {seconds:.0f} s"
        )
    return usual, ""


def _answer_seconds(capabilities: Capabilities) -> float | None:
    """How long the profile `standard`'s longest answer takes, if the speeds are known."""
    read_speed, write_speed = capabilities.prompt_tokens_per_s, capabilities.completion_tokens_per_s
    if write_speed is None or (read_speed is None and not capabilities.reasons):
        return None
    base, thought = PROFILES["standard"], _THOUGHT_TOKENS if capabilities.reasons else 0
    # For a reasoning model only the time of whole answers is known, reading included.
    read_s = base.prompt_chars / _CHARS_PER_TOKEN / read_speed if read_speed is not None else 0.0
    return read_s + (base.write_tokens + thought) / write_speed


def _short_context(capabilities: Capabilities, base: Settings) -> _Wanted:
    """Of the context, less room for reasoning, half is for libraries, a quarter for the answer."""
    if capabilities.context_tokens is None:
        return {}, ""
    room = max(0, capabilities.context_tokens - (_THOUGHT_TOKENS if capabilities.reasons else 0))

    def chars(name: str, share: float) -> int:
        most = max(_LEAST_CHARS, int(room * share * _CHARS_PER_TOKEN))
        return int(min(getattr(base, name), most))

    def tokens(name: str) -> int:
        return int(min(getattr(base, name), max(_LEAST_TOKENS, room // 4)))

    values: dict[str, object] = {
        "prompt_chars": chars("prompt_chars", 1 / 2),
        # One prompt holds some docs in full, a tool's answer, an output and source together.
        "doc_chars": chars("doc_chars", 1 / 24),
        "tool_chars": chars("tool_chars", 1 / 8),
        "output_chars": chars("output_chars", 1 / 16),
        "source_chars": chars("source_chars", 1 / 24),
        **{name: tokens(name) for name in ("write_tokens", "step_tokens", "solution_tokens")},
    }
    return values, f"its context has {capabilities.context_tokens} tokens"


def _thoughts(capabilities: Capabilities, base: Settings) -> _Wanted:
    """Every reply costs reasoning, so ask for none that may not be needed."""
    if not capabilities.reasons:
        return {}, ""
    return {"stop_at_first": True, "rerank": "none"}, "it thinks before each reply"


def _no_functions(capabilities: Capabilities, base: Settings) -> _Wanted:
    if capabilities.tools is not False:
        return {}, ""
    return {"functions": "off"}, "it calls no functions"
