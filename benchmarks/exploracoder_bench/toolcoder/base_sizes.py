"""How large a model is, read from its files before it is loaded."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from exploracoder.models.gguf_header import GgufHeader

# More means damage; the header of the largest shard has a few hundred thousand bytes.
_MAX_HEAD_BYTES = 100_000_000
_PICKLED_BYTES = {"float16": 2, "bfloat16": 2}


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of a model, each 0 if its files do not say.

    ``parameters`` counts all its weights, ``vocabulary`` its tokens, ``hidden`` is the width of a
    token between layers, ``feed_forward`` the one inside a layer.
    """

    parameters: int = 0
    vocabulary: int = 0
    hidden: int = 0
    feed_forward: int = 0
    layers: int = 0


def sizes_of_gguf(header: GgufHeader) -> Sizes:
    """The sizes of the model in a GGUF file."""

    def said(name: str) -> int:
        return _count(header.values.get(f"{header.architecture}.{name}"))

    return Sizes(
        parameters=header.parameters,
        vocabulary=header.shapes.get("token_embd.weight", (0,))[-1],
        hidden=said("embedding_length"),
        feed_forward=said("feed_forward_length"),
        layers=said("block_count"),
    )


def sizes_of_folder(folder: Path) -> Sizes:
    """The sizes of the model in a folder in transformers' format."""
    config = _config(folder)
    return Sizes(
        parameters=_parameters(folder, config),
        vocabulary=_count(config.get("vocab_size")),
        hidden=_count(config.get("hidden_size")),
        feed_forward=_count(config.get("intermediate_size")),
        layers=_count(config.get("num_hidden_layers")),
    )


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    config = config.get("text_config", config) if isinstance(config, dict) else {}
    return config if isinstance(config, dict) else {}


def _parameters(folder: Path, config: dict[str, Any]) -> int:
    """The parameters in the files that transformers would load: one format, whole or in shards."""
    for pattern in ("model.safetensors", "model-*.safetensors"):
        if files := list(folder.glob(pattern)):
            return sum(map(_in_safetensors, files))
    kind = str(config.get("dtype") or config.get("torch_dtype"))
    return sum(file.stat().st_size for file in folder.glob("pytorch_model*.bin")) // (
        _PICKLED_BYTES.get(kind, 4)
    )


def _in_safetensors(file: Path) -> int:
    """The number of parameters that a file's header lists; 0 if it is damaged.

    Source: the format's description, safetensors ``README.md``.
    """
    try:
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            head = json.loads(stream.read(min(length, _MAX_HEAD_BYTES)))
        return sum(prod(one["shape"]) for name, one in head.items() if name != "__metadata__")
    except (OSError, ValueError, struct.error, AttributeError, KeyError, TypeError):
        return 0


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
