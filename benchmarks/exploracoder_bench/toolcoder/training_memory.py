"""Check beforehand whether training fits into memory: a CPU's runs out without a message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exploracoder.errors import SetupError
from exploracoder.models import hardware

if TYPE_CHECKING:
    from exploracoder_bench.toolcoder.base_sizes import Sizes
    from exploracoder_bench.toolcoder.recipe import Recipe

_GIB = 1 << 30
# The adapter, its optimiser and PyTorch itself beside the weights.
_SPARE = 1.1
# There are three copies of the logits, in 32 bits whatever the weights have: themselves, their
# log-probabilities, and the gradient.
_LOGIT_BYTES = 3 * 4
# Numbers that a layer keeps per token, in terms of both its sizes. Measured: Qwen2 keeps 1.3 to
# 1.6 times as much, Gemma2 2.1, StarCoder2 0.9 to 1.1.
_HIDDEN_KEPT, _FEED_FORWARD_KEPT = 8, 3


@dataclass(frozen=True, slots=True)
class Load:
    """What one step of training holds: at most ``texts`` texts of ``tokens`` tokens each."""

    element_bytes: int
    texts: int
    tokens: int
    saves_memory: bool

    def step_bytes(self, sizes: Sizes) -> int:
        """The bytes of logits and activations; an underestimate rather than an overestimate."""
        in_layer = _HIDDEN_KEPT * sizes.hidden + _FEED_FORWARD_KEPT * sizes.feed_forward
        activations = sizes.layers * in_layer
        if self.saves_memory:
            # Only those between layers, and all of the layer that is recomputed.
            activations = sizes.layers * sizes.hidden + in_layer
        each = _LOGIT_BYTES * sizes.vocabulary + activations * self.element_bytes
        return (1 if self.saves_memory else self.texts) * self.tokens * each


def check_memory(sizes: Sizes, device: str, load: Load) -> None:
    """Raise, before loading, if a model cannot be trained in the free memory.

    Raises:
        SetupError: With what to lower.
    """
    weights = int(sizes.parameters * load.element_bytes * _SPARE)
    step, free = load.step_bytes(sizes), _free_bytes(device)
    smaller = "" if load.element_bytes == 2 else "--precision bfloat16, "
    smaller += "a smaller --base, or a larger machine"
    if weights > free:
        raise SetupError(
            f"The model's weights alone need about {weights / _GIB:.1f} GiB of memory, and"
            f" {free / _GIB:.1f} GiB are free. Take {smaller}."
        )
    if weights + step > free:
        texts = 1 if load.saves_memory else load.texts
        lower = "--max-tokens" if load.saves_memory else "--batch or --max-tokens"
        slower = "" if load.saves_memory else "--save-memory (slower), "
        raise SetupError(
            f"Training needs about {(weights + step) / _GIB:.1f} GiB of memory:"
            f" {weights / _GIB:.1f} for the weights and {step / _GIB:.1f} for steps of"
            f" {texts} texts of {load.tokens} tokens; {free / _GIB:.1f} GiB are free."
            f" Lower {lower}, or take {slower}{smaller}."
        )


def _free_bytes(device: str) -> int:
    if not device.startswith("cuda"):
        return hardware.available_memory_bytes()
    import torch

    return int(torch.cuda.mem_get_info(device)[0])


@contextmanager
def memory_errors(recipe: Recipe) -> Iterator[None]:
    """Turn running out of memory into a SetupError that says what to lower."""
    import torch

    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        is_lack = isinstance(error, torch.OutOfMemoryError | MemoryError)
        if not is_lack and "can't allocate memory" not in str(error):
            raise
        raise SetupError(
            f"Out of memory with --batch {recipe.batch} and --max-tokens {recipe.max_tokens}."
            " Lower one of them, or --rank; or take --precision bfloat16, --save-memory (slower),"
            " or a smaller --base."
        ) from error
