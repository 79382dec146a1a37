"""Fine-tuning: a tiny model of random weights learns, and its adapter becomes a GGUF file.

Needs ``pip install 'exploracoder[train]'``, which is gigabytes: part of the long run, and skipped
there without it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exploracoder.errors import SetupError
from exploracoder.models.gguf_header import read_header
from exploracoder.toolcoder.annotation import Annotated
from exploracoder.toolcoder.training import Recipe, memory_errors

from .conftest import Command

# What these packages warn of among themselves is not ours.
pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def the_extra() -> None:
    """Skips where it is not installed."""
    for name in ("torch", "transformers", "peft", "gguf"):
        pytest.importorskip(name, reason="the extra 'train' is not installed")


TEXTS = [
    f"def f{n}(leaf):\n    return <API>APISearch(sum of leaves)->tea.sum</API>tea.sum(leaf, {n})"
    for n in range(12)
]
SIZES = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}


def make_base(folder: Path, **changes: Any) -> Path:
    """A model of a few thousand random weights, with a tokenizer of single bytes."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(["<|endoftext|>", *letters])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    end = "<|endoftext|>"
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=end)
    fast.save_pretrained(folder)
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    config = transformers.Qwen2Config(vocab_size=len(fast), **heads, **{**SIZES, **changes})
    transformers.Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def text(tmp_path: Path) -> Path:
    rows = [
        Annotated(id=str(n), file="tea.py", function="f", line=1, code="", text=one)
        for n, one in enumerate(TEXTS)
    ]
    dropped = Annotated(id="x", file="tea.py", function="g", line=1, code="", reason="no search")
    lines = [row.model_dump_json() for row in [*rows, dropped]]
    (tmp_path / "text.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "text.jsonl"


def test_it_learns_and_says_what_it_cost(command: Command, text: Path, tmp_path: Path) -> None:
    base, output = make_base(tmp_path / "base"), tmp_path / "adapter"
    words = ["--base", base, "--epochs", 3, "--batch", 4, "--learning-rate", "0.01", "--rank", 4]
    done = command("train", text, "-o", output, *words, "--quiet", "--json")

    report = done.json
    header = read_header(output / "adapter.gguf")
    assert (done.code, report["texts"], report["validation_texts"]) == (0, 11, 1)
    assert report["losses"][report["best_epoch"]] < report["losses"][0]
    # Per layer: A is r by 16, B 16 by r for queries and 8 by r for values.
    assert report["trainable_parameters"] == 2 * 4 * (16 + 16 + 16 + 8)
    assert 0 < report["trainable_share"] < 1
    assert report["mark_tokens"]["<API>"] == 5
    assert (header.architecture, header.values["adapter.lora.alpha"]) == ("qwen2", 16.0)
    assert header.shapes["blk.1.attn_q.weight.lora_a"] == (16, 4)
    assert header.shapes["blk.1.attn_v.weight.lora_b"] == (4, 8)
    assert json.loads((output / "training.json").read_text())["steps"] == report["steps"]


def test_it_ends_after_so_many_steps_and_repeats_with_the_same_seed(
    command: Command, text: Path, tmp_path: Path
) -> None:
    base = make_base(tmp_path / "base")
    words = ["--base", base, "--steps", 2, "--batch", 2, "--save-memory", "--quiet", "--json"]
    one = command("train", text, "-o", tmp_path / "one", *words).json
    two = command("train", text, "-o", tmp_path / "two", *words).json

    assert (one["steps"], one["losses"]) == (2, two["losses"])


def test_running_out_of_memory_says_what_to_lower() -> None:
    import torch

    with pytest.raises(SetupError, match=r"--batch 64 .*--max-tokens 9000.*bfloat16"):  # noqa: SIM117
        with memory_errors(Recipe(batch=64, max_tokens=9000)):
            torch.empty(1 << 50)


def test_other_errors_stay_what_they_are() -> None:
    import torch

    with pytest.raises(RuntimeError, match="shape"), memory_errors(Recipe()):
        torch.empty(4).reshape(3)


def test_what_cannot_be_taught_is_refused(command: Command, text: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "nothing").mkdir()
    base = make_base(tmp_path / "base")
    few = command("train", tmp_path / "empty.jsonl", "-o", tmp_path / "a", "--base", base)
    none = command("train", text, "-o", tmp_path / "a", "--base", tmp_path / "nothing")
    gone = command("train", tmp_path / "gone.jsonl", "-o", tmp_path / "a", "--base", base)

    assert (few.code, none.code, gone.code) == (2, 2, 2)
    assert "0 training texts" in few.err
    assert "no model at" in none.err
    assert "exploracoder annotate" in gone.err
