"""A PEFT adapter as a GGUF file, which llama.cpp loads beside a model.

Source: llama.cpp's format of adapters: ``general.type`` is adapter, ``adapter.type`` lora, and each
changed tensor has its name with ``.lora_a`` and ``.lora_b``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError, SetupError
from exploracoder.models.adapter import BASE_KEY

FILE = "adapter.gguf"
# Architectures whose projections have the same row order in both formats, and are not fused into
# one matrix, in which they are not trained.
ARCHITECTURES = ("qwen2", "qwen3", "gemma", "gemma2", "starcoder2")
_TENSOR = re.compile(r"base_model\.model\.(?P<base>.+)\.lora_(?P<side>[AB])\.weight\Z")


def convert(folder: Path, architecture: str, base_sha256: str) -> Path:
    """Write ``adapter.gguf`` beside a PEFT adapter, atomically.

    Args:
        folder: Holds the adapter's safetensors file and its configuration.
        architecture: The base model's architecture, as llama.cpp calls it; empty to read its own
            configuration.
        base_sha256: The hash of the GGUF file that it is for; empty if that is not known.

    Raises:
        InputError: The folder holds no adapter, or of a kind of model that this cannot convert.
        SetupError: The package gguf is missing, or the file cannot be written.
    """
    try:
        import gguf
        from safetensors.torch import load_file
    except ImportError as error:
        raise SetupError(
            f"Converting needs {error.name}. Run: pip install 'exploracoder[train]'"
        ) from None
    try:
        config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        tensors = load_file(folder / "adapter_model.safetensors")
    except (OSError, ValueError) as error:
        raise InputError(f"{folder} holds no adapter that can be read.") from error
    architecture = architecture or _architecture(config)
    if architecture not in ARCHITECTURES:
        raise InputError(
            f"The adapter is in {folder}, in PEFT's form. It is for a model of the kind"
            f" {architecture!r}, for which no GGUF adapter can be made here; for"
            f" {', '.join(ARCHITECTURES)} it can."
        )
    output, partial_file = folder / FILE, folder / f".{FILE}"
    writer = gguf.GGUFWriter(str(partial_file), architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(config["lora_alpha"]))
    if base_sha256:
        writer.add_string(BASE_KEY, base_sha256)
    for name, tensor in _named(tensors, architecture):
        writer.add_tensor(name, tensor)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        partial_file.replace(output)
    except OSError as error:
        raise SetupError(f"{output} cannot be written: {error.strerror}.") from error
    return output


def _architecture(config: dict[str, Any]) -> str:
    """The architecture's name in the base model's own configuration."""
    file = Path(str(config.get("base_model_name_or_path", ""))) / "config.json"
    try:
        return str(json.loads(file.read_text(encoding="utf-8")).get("model_type", ""))
    except (OSError, ValueError):
        return ""


def _named(tensors: dict[str, Any], architecture: str) -> list[tuple[str, Any]]:
    """Tensors under llama.cpp's names, as float32 arrays."""
    import gguf

    kinds = {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}
    layers = 1 + max(int(layer) for name in tensors for layer in re.findall(r"\.(\d+)\.", name))
    names = gguf.get_tensor_name_map(kinds[architecture], layers)
    arrays = []
    for name, tensor in sorted(tensors.items()):
        match = _TENSOR.match(name)
        base = names.get_name(match["base"]) if match else None
        if match is None or base is None:
            raise InputError(f"The adapter changes {name}, which llama.cpp does not know.")
        side = {"A": "lora_a", "B": "lora_b"}[match["side"]]
        arrays.append((f"{base}.weight.{side}", tensor.float().numpy()))
    return arrays
