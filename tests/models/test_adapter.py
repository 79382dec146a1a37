"""Adapters: what a GGUF file says of itself, and for which model an adapter is."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder.models.adapter import BASE_KEY, check_adapter, file_sha256
from exploracoder.models.gguf_header import read_header
from exploracoder.prepare import open_model
from gguf_files import Value, write_gguf

SHAPES = {"blk.0.attn_q.weight": (16, 12), "output.weight": (16, 97)}
LORA = {"blk.0.attn_q.weight.lora_a": (16, 4), "blk.0.attn_q.weight.lora_b": (4, 12)}
SAID = {"general.architecture": "qwen2", "general.type": "adapter", "adapter.type": "lora"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    words = [f"word {number}" for number in range(50)]
    values: dict[str, Value] = {"tokens": words, "general.architecture": "qwen2", "size": 1.5}
    return write_gguf(tmp_path / "model.gguf", values, SHAPES)


def test_the_head_of_a_file_is_read_without_its_data(model: Path) -> None:
    header = read_header(model)

    assert header.values == {"general.architecture": "qwen2", "size": 1.5}
    assert header.shapes == SHAPES
    assert header.parameters == 16 * 12 + 16 * 97


def test_an_adapter_for_the_model_passes(model: Path, tmp_path: Path) -> None:
    sha256 = file_sha256(model)
    named_adapter = write_gguf(tmp_path / "named.gguf", SAID | {BASE_KEY: sha256}, LORA)
    unnamed_adapter = write_gguf(tmp_path / "unnamed.gguf", SAID, LORA)

    check_adapter(named_adapter, model, sha256)
    check_adapter(unnamed_adapter, model, sha256)


@pytest.mark.parametrize(
    ("values", "shapes", "said"),
    [
        ({"general.architecture": "llama"}, {}, "of the kind 'llama'"),
        ({BASE_KEY: "0" * 64}, {}, "SHA-256 begins with 000000000000"),
        ({}, {"blk.0.attn_q.weight.lora_a": (32, 4)}, "attn_q.weight has another shape"),
        ({}, {"blk.7.attn_q.weight.lora_a": (16, 4)}, "blk.7.attn_q.weight has another shape"),
        ({}, {"blk.0.attn_q.weight": (16, 12)}, "has another shape"),
        ({"adapter.type": "other"}, {}, "is no LoRA adapter"),
        ({"general.type": "model"}, {}, "is no LoRA adapter"),
    ],
)
def test_an_adapter_for_another_model_is_refused(
    model: Path,
    tmp_path: Path,
    values: dict[str, str],
    shapes: dict[str, tuple[int, int]],
    said: str,
) -> None:
    adapter = write_gguf(tmp_path / "adapter.gguf", SAID | values, LORA | shapes)

    with pytest.raises(InputError, match=said):
        check_adapter(adapter, model, file_sha256(model))


@pytest.mark.parametrize(
    "data", [b"", b"GGUF", b"PK\3\4" * 9, b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1 << 60)]
)
def test_a_file_that_is_none_or_damaged_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "odd.gguf").write_bytes(data)

    with pytest.raises(InputError, match="no GGUF file, or is damaged"):
        read_header(tmp_path / "odd.gguf")


def test_every_beginning_of_a_file_is_refused_in_words(model: Path, tmp_path: Path) -> None:
    data = model.read_bytes()
    for end in range(0, len(data) - 1, 7):
        (tmp_path / "cut.gguf").write_bytes(data[:end])

        with pytest.raises(InputError):
            read_header(tmp_path / "cut.gguf")


async def test_an_adapter_goes_with_the_embedded_model_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--lora is for the embedded model"):
        async with open_model("other", "http://127.0.0.1:9/v1", lora=tmp_path / "a.gguf"):
            pass
