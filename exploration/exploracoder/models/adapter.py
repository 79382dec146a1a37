"""LoRA adapters in GGUF files: checks that an adapter fits a model."""

from __future__ import annotations

from pathlib import Path

from exploracoder.errors import InputError
from exploracoder.models.gguf_header import GgufHeader, read_header
from exploracoder.models.weights import sha256

# Our converter records the SHA-256 of the base model's file under this key, if it is known.
BASE_KEY = "exploracoder.base.sha256"


def file_sha256(path: Path) -> str:
    """The hexadecimal SHA-256 of a file. Raises InputError if it cannot be read."""
    try:
        return sha256(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def check_adapter(adapter: Path, model: Path, model_sha256: str) -> None:
    """Check that an adapter was made for the model in the file ``model``.

    Raises:
        InputError: It was made for another one, is not a LoRA adapter, or cannot be read.
    """
    ours, theirs = read_header(adapter), read_header(model)
    if ours.values.get("general.type") != "adapter" or ours.values.get("adapter.type") != "lora":
        raise InputError(
            f"{adapter} is no LoRA adapter. 'exploracoder train' makes one: adapter.gguf."
        )
    base_sha256 = ours.values.get(BASE_KEY, model_sha256)
    if ours.architecture != theirs.architecture:
        why = f"one of the kind {ours.architecture!r}, not {theirs.architecture!r}"
    elif base_sha256 != model_sha256:
        why = f"the one whose SHA-256 begins with {base_sha256[:12]}"
    elif unfit := _unfit(ours, theirs):
        why = f"one whose {unfit} has another shape"
    else:
        return
    raise InputError(
        f"The adapter {adapter} was made for another model than {model.name}: {why}."
        " Train one for this model with 'exploracoder train', or leave --lora out."
    )


def _unfit(adapter: GgufHeader, model: GgufHeader) -> str:
    """The first adapted tensor that the model lacks or has in another shape; empty if none."""
    for name, shape in adapter.shapes.items():
        base, _, part = name.rpartition(".")
        side = {"lora_a": 0, "lora_b": 1}.get(part)
        theirs = model.shapes.get(base)
        if side is None or theirs is None or shape[side] != theirs[side]:
            return base or name
    return ""
