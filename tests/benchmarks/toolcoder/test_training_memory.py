"""What training needs of memory, told from a model's files; no library of the extra is used."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from exploracoder.errors import SetupError
from exploracoder.models import hardware
from exploracoder.models.gguf_header import GgufHeader
from exploracoder_bench.toolcoder.base_model import find_base
from exploracoder_bench.toolcoder.base_sizes import Sizes, sizes_of_folder, sizes_of_gguf
from exploracoder_bench.toolcoder.training_memory import Load, check_memory

GIB = 1 << 30
# Qwen2.5-Coder-7B as its publisher's folder describes it.
CONFIG = {
    "model_type": "qwen2",
    "vocab_size": 152_064,
    "hidden_size": 3_584,
    "intermediate_size": 18_944,
    "num_hidden_layers": 28,
    "dtype": "bfloat16",
}
SHAPES = ((152_064, 3_584), (3_584, 1_000_000), (3_000_000_000,))
PARAMETERS = 152_064 * 3_584 + 3_584 * 1_000_000 + 3_000_000_000
SEVEN = Sizes(PARAMETERS, 152_064, 3_584, 18_944, 28)


def write_safetensors(file: Path, *shapes: tuple[int, ...]) -> None:
    """A file of which there is only the head."""
    head: dict[str, object] = {"__metadata__": {"format": "pt"}}
    for number, shape in enumerate(shapes):
        offsets = [0, 0]
        head[f"w{number}"] = {"dtype": "BF16", "shape": shape, "data_offsets": offsets}
    data = json.dumps(head).encode()
    file.write_bytes(struct.pack("<Q", len(data)) + data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    base.mkdir()
    (base / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    write_safetensors(base / "model-00001-of-00002.safetensors", *SHAPES[:1])
    write_safetensors(base / "model-00002-of-00002.safetensors", *SHAPES[1:])
    return base


def test_a_folder_says_how_large_its_model_is(folder: Path) -> None:
    # The same weights in another form: they are not loaded.
    write_safetensors(folder / "consolidated.safetensors", *SHAPES)
    (folder / "pytorch_model.bin").write_bytes(b"0" * 999)

    assert find_base(folder).sizes == SEVEN


def test_one_file_goes_before_its_shards(folder: Path) -> None:
    write_safetensors(folder / "model.safetensors", (8, 9))

    assert sizes_of_folder(folder).parameters == 72


def test_weights_in_pickles_are_counted_by_their_bytes(folder: Path) -> None:
    for file in folder.glob("*.safetensors"):
        file.unlink()
    (folder / "pytorch_model-00001-of-00001.bin").write_bytes(b"0" * 1000)

    assert sizes_of_folder(folder).parameters == 500


@pytest.mark.parametrize(
    ("config", "data"),
    [
        ("{", b""),
        ("[]", b"\x00"),
        ('{"vocab_size": "many", "hidden_size": null}', struct.pack("<Q", 1 << 60)),
        ('{"text_config": 3}', struct.pack("<Q", 2) + b"[]"),
        ("{}", struct.pack("<Q", 15) + b'{"a": {"b": 1}}'),
    ],
)
def test_what_a_folder_does_not_say_is_nothing(tmp_path: Path, config: str, data: bytes) -> None:
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(data)

    assert sizes_of_folder(tmp_path) == Sizes()


def test_the_text_part_of_a_larger_model_is_meant(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"text_config": CONFIG}), encoding="utf-8")

    assert sizes_of_folder(tmp_path) == Sizes(0, 152_064, 3_584, 18_944, 28)


def test_a_gguf_file_says_how_large_its_model_is() -> None:
    values = {
        "general.architecture": "qwen2",
        "qwen2.embedding_length": 16,
        "qwen2.feed_forward_length": 32,
        "qwen2.block_count": 2,
    }
    header = GgufHeader(values, {"token_embd.weight": (16, 97), "output_norm.weight": (16,)})

    assert sizes_of_gguf(header) == Sizes(16 * 97 + 16, 97, 16, 32, 2)
    assert sizes_of_gguf(GgufHeader({}, {})) == Sizes()


def test_three_copies_of_the_logits_and_the_activations_are_counted() -> None:
    load = Load(element_bytes=4, texts=8, tokens=512, saves_memory=False)
    only_words, only_layers = Sizes(vocabulary=151_936), Sizes(hidden=10, feed_forward=20, layers=3)

    assert load.step_bytes(only_words) == 3 * 8 * 512 * 151_936 * 4
    assert load.step_bytes(only_layers) == 8 * 512 * 3 * (8 * 10 + 3 * 20) * 4


def test_logits_are_of_32_bits_whatever_the_weights_are() -> None:
    half = Load(element_bytes=2, texts=1, tokens=1, saves_memory=False)

    assert half.step_bytes(Sizes(vocabulary=100)) == 3 * 100 * 4
    assert half.step_bytes(Sizes(hidden=10, layers=1)) == 8 * 10 * 2


def test_saving_memory_takes_one_text_at_a_time_and_keeps_little_of_each_layer() -> None:
    saving = Load(element_bytes=4, texts=8, tokens=512, saves_memory=True)
    sizes = Sizes(vocabulary=1000, hidden=10, feed_forward=20, layers=3)

    between_layers, one_layer = 3 * 10, 8 * 10 + 3 * 20
    assert saving.step_bytes(sizes) == 512 * (3 * 1000 + between_layers + one_layer) * 4


@pytest.fixture
def with_free(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(hardware, "available_memory_bytes", lambda: 40 * GIB)
    return monkeypatch


@pytest.mark.usefixtures("with_free")
def test_a_step_that_does_not_fit_is_refused_with_what_to_lower() -> None:
    load = Load(element_bytes=4, texts=8, tokens=512, saves_memory=False)

    with pytest.raises(
        SetupError, match=r"(?s)40\.0 GiB are free.*--batch.*--max-tokens"
    ) as refusal:
        check_memory(SEVEN, "cpu", load)

    assert "8 texts of 512 tokens" in str(refusal.value)
    assert "--save-memory" in str(refusal.value)
    check_memory(SEVEN, "cpu", Load(element_bytes=4, texts=1, tokens=512, saves_memory=False))
    check_memory(SEVEN, "cpu", Load(element_bytes=4, texts=8, tokens=512, saves_memory=True))


@pytest.mark.usefixtures("with_free")
def test_weights_that_do_not_fit_are_refused_whatever_the_batch_is() -> None:
    larger = Sizes(parameters=20_000_000_000)

    with pytest.raises(SetupError, match=r"weights alone .*--precision bfloat16") as refusal:
        check_memory(larger, "cpu", Load(element_bytes=4, texts=1, tokens=16, saves_memory=True))

    assert "--batch" not in str(refusal.value)


@pytest.mark.usefixtures("with_free")
def test_what_is_taken_already_is_not_advised() -> None:
    load = Load(element_bytes=2, texts=8, tokens=200_000, saves_memory=True)

    with pytest.raises(SetupError, match="Lower --max-tokens") as refusal:
        check_memory(SEVEN, "cpu", load)

    for name in ("--batch", "--save-memory", "--precision"):
        assert name not in str(refusal.value)
