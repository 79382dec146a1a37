"""The model that is taught: from the embedded model's file, another GGUF file, or a HF folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError, SetupError
from exploracoder.models import hardware
from exploracoder.models.adapter import file_sha256
from exploracoder.models.gguf_header import read_header
from exploracoder.models.weights import WeightsStore

_GIB = 1 << 30
# Activations, the adapter and its optimiser beside the weights, at the least.
_SPARE = 1.3
PULL = "Fetch the embedded model with 'exploracoder model pull', or name another with --base."


@dataclass(frozen=True, slots=True)
class Base:
    """Where weights come from.

    ``path`` is a GGUF file, or a folder with weights in the form of transformers. ``sha256`` is
    that of the GGUF file, empty for a folder. ``parameters`` is 0 where nobody knows before
    loading.
    """

    path: Path
    sha256: str
    architecture: str
    parameters: int

    @property
    def is_gguf(self) -> bool:
        """Whether the weights are dequantised from a GGUF file."""
        return self.path.is_file()


def find_base(path: Path | None) -> Base:
    """The model that is meant; the embedded one when none is named.

    Raises:
        SetupError: The embedded model is not there.
        InputError: The path holds no model.
    """
    store = WeightsStore()
    if path is None:
        if not store.is_verified:
            raise SetupError(f"The embedded model is not there ({store.path}). {PULL}")
        header = read_header(store.path)
        return Base(store.path, store.model.sha256, header.architecture, header.parameters)
    path = path.expanduser().absolute()
    if path.is_file():
        header = read_header(path)
        return Base(path, file_sha256(path), header.architecture, header.parameters)
    if not (path / "config.json").is_file():
        raise InputError(
            f"There is no model at {path}: no GGUF file, and no folder with config.json."
        )
    return Base(path, "", "", 0)


def check_memory(base: Base, device: str, element_bytes: int) -> None:
    """Say before loading that a model cannot fit. Raises SetupError."""
    needed = int(base.parameters * element_bytes * _SPARE)
    if device.startswith("cuda"):
        import torch

        available = torch.cuda.mem_get_info(device)[0]
    else:
        available = hardware.available_memory_bytes()
    if needed > available:
        raise SetupError(
            f"The model needs about {needed / _GIB:.1f} GiB of memory to be trained, and"
            f" {available / _GIB:.1f} GiB are free. Take --precision bfloat16, a smaller --base, or"
            " a larger machine."
        )


def load(
    base: Base, device: str, precision: str, working: Callable[[str], None]
) -> tuple[Any, Any]:
    """The tokenizer and the model, on the device.

    Raises InputError when transformers cannot read them.
    """
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options: dict[str, Any] = {"local_files_only": True}
    folder = base.path
    if base.is_gguf:
        folder, options["gguf_file"] = base.path.parent, base.path.name
    try:
        working("Reading the tokenizer")
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        # Newer versions keep the weights packed where they can; these would not be trained through.
        config = getattr(transformers, "GgufConfig", None)
        if base.is_gguf and config is not None:
            options["quantization_config"] = config(dequantize=True)
        working("Reading the weights")
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, precision), **options
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = str(error).strip().splitlines()[:1]
        raise InputError(f"The model {base.path} cannot be read: {''.join(first)}") from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer, model.to(device)
