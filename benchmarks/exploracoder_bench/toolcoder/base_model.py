"""The model to train: from the embedded model's file, another GGUF file, or an HF folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError, SetupError
from exploracoder.models.adapter import file_sha256
from exploracoder.models.gguf_header import read_header
from exploracoder.models.weights import WeightsStore

from exploracoder_bench.toolcoder.base_sizes import Sizes, sizes_of_folder, sizes_of_gguf

PULL = "Fetch the embedded model with 'exploracoder model pull', or name another with --base."


@dataclass(frozen=True, slots=True)
class Base:
    """Where weights come from.

    ``path`` is a GGUF file, or a folder with weights in transformers' format. ``sha256`` is
    that of the GGUF file, empty for a folder.
    """

    path: Path
    sha256: str
    architecture: str
    sizes: Sizes

    @property
    def is_gguf(self) -> bool:
        """Whether the weights are dequantised from a GGUF file."""
        return self.path.is_file()


def find_base(path: Path | None) -> Base:
    """The model at ``path``; the embedded one if it is None.

    Raises:
        SetupError: The embedded model is not installed.
        InputError: The path holds no model.
    """
    store = WeightsStore()
    if path is None:
        if not store.is_verified:
            raise SetupError(f"The embedded model is not there ({store.path}). {PULL}")
        header = read_header(store.path)
        return Base(store.path, store.model.sha256, header.architecture, sizes_of_gguf(header))
    path = path.expanduser().absolute()
    if path.is_file():
        header = read_header(path)
        return Base(path, file_sha256(path), header.architecture, sizes_of_gguf(header))
    if not (path / "config.json").is_file():
        raise InputError(
            f"There is no model at {path}: no GGUF file, and no folder with config.json."
        )
    return Base(path, "", "", sizes_of_folder(path))


def load_tokenizer(base: Base) -> Any:
    """The tokenizer, which is small. Raises InputError when transformers cannot read it."""
    with _reading(base) as (folder, options):
        import transformers

        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(base: Base, device: str, precision: str) -> Any:
    """The model, on the device. Raises InputError when transformers cannot read it."""
    import torch

    with _reading(base) as (folder, options):
        import transformers

        # Newer versions keep the weights quantised where they can; gradients would not pass these.
        config = getattr(transformers, "GgufConfig", None)
        if base.is_gguf and config is not None:
            options["quantization_config"] = config(dequantize=True)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, precision), **options
        )
    return model.to(device)


@contextmanager
def _reading(base: Base) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The folder and options with which transformers reads a base; failures become InputError."""
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options: dict[str, Any] = {"local_files_only": True}
    folder = base.path
    if base.is_gguf:
        folder, options["gguf_file"] = base.path.parent, base.path.name
    try:
        yield folder, options
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = str(error).strip().splitlines()[:1]
        raise InputError(f"The model {base.path} cannot be read: {''.join(first)}") from error
