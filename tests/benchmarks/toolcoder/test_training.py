"""Fine-tuning: a tiny model of random weights learns, and its adapter becomes a GGUF file.

Needs ``pip install 'exploracoder[train]'``, which is gigabytes: part of the long run, and skipped
there without it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exploracoder.cli.console import Progress
from exploracoder.errors import SetupError
from exploracoder.models import hardware
from exploracoder.models.gguf_header import read_header
from exploracoder_bench.toolcoder import base_model, gguf_adapter
from exploracoder_bench.toolcoder.annotation import AnnotatedFunction
from exploracoder_bench.toolcoder.base_sizes import sizes_of_folder
from exploracoder_bench.toolcoder.recipe import Recipe
from exploracoder_bench.toolcoder.training_memory import memory_errors
from exploration.conftest import Command
from gguf_files import write_gguf

# What these packages warn of among themselves is not ours.
pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def the_extra() -> None:
    """Skips where it is not installed."""
    for name in ("torch", "transformers", "peft", "gguf"):
        pytest.importorskip(name, reason="the extra 'train' is not installed")


GOOD = "<API>APISearch(sum of leaves)->tea.sum</API>"
TEXTS = [f"def f{n}(leaf):\n    return {GOOD}tea.sum(leaf, {n})" for n in range(12)]
RECIPE = Recipe(
    rank=8,
    alpha=16,
    epochs=1,
    steps=None,
    batch=8,
    learning_rate=1e-4,
    max_tokens=512,
    seed=0,
    device="auto",
    precision="auto",
    saves_memory=False,
    drops_queries=False,
)
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
    sizes = {"vocab_size": len(fast), **SIZES, **changes}
    config = transformers.Qwen2Config(**heads, **sizes)
    transformers.Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def text(tmp_path: Path) -> Path:
    rows = [
        AnnotatedFunction(id=str(n), file="tea.py", function="f", line=1, code="", text=one)
        for n, one in enumerate(TEXTS)
    ]
    dropped_row = AnnotatedFunction(
        id="x", file="tea.py", function="g", line=1, code="", reason="no search"
    )
    lines = [row.model_dump_json() for row in [*rows, dropped_row]]
    (tmp_path / "text.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "text.jsonl"


def test_it_learns_and_says_what_it_cost(command: Command, text: Path, tmp_path: Path) -> None:
    base, output = make_base(tmp_path / "base"), tmp_path / "adapter"
    words = ["--base", base, "--epochs", 3, "--batch", 4, "--learning-rate", "0.01", "--rank", 4]
    outcome = command("train", text, "-o", output, *words, "--quiet", "--json")

    report = outcome.json
    header = read_header(output / "adapter.gguf")
    assert (outcome.code, report["texts"], report["validation_texts"]) == (0, 11, 1)
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


def test_saving_memory_learns_the_same(command: Command, text: Path, tmp_path: Path) -> None:
    base = make_base(tmp_path / "base")
    words = ["--base", base, "--epochs", 2, "--batch", 4, "--learning-rate", "0.01"]
    plain = command("train", text, "-o", tmp_path / "a", *words, "--quiet", "--json").json
    saving = ("--save-memory", "--quiet", "--json")
    saving_report = command("train", text, "-o", tmp_path / "b", *words, *saving).json

    assert plain["losses"][-1] < plain["losses"][0]
    assert saving_report["losses"] == pytest.approx(plain["losses"], rel=1e-4)


def test_a_model_that_cannot_fit_is_refused_before_it_is_loaded(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    base = make_base(tmp_path / "base", vocab_size=50_000)
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    parameters = sum(one.numel() for one in model.parameters())
    monkeypatch.setattr(hardware, "available_memory_bytes", lambda: 50_000_000)
    monkeypatch.setattr(base_model, "load_model", None)
    outcome = command("train", text, "-o", tmp_path / "a", "--base", base, "--quiet")

    longest = 1 + max(map(len, TEXTS))
    assert sizes_of_folder(base).parameters == parameters
    assert outcome.code == 2
    assert f"8 texts of {longest} tokens" in outcome.err
    assert "--batch or --max-tokens" in outcome.err


def changed_numbers(adapter: Path) -> int:
    """How many numbers of an adapter make a difference: before training all of B are 0."""
    import gguf

    tensors = gguf.GGUFReader(adapter).tensors
    return sum(int((one.data != 0).sum()) for one in tensors if one.name.endswith(".lora_b"))


def test_an_interruption_leaves_the_best_adapter_so_far_in_both_forms(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, output = make_base(tmp_path / "base"), tmp_path / "adapter"
    changes: list[int] = []

    def stop(progress: Progress, message: str) -> None:
        if message.startswith("Epoch 1 of"):
            changes.append(changed_numbers(output / "adapter.gguf"))
        if message.startswith("Epoch 3 of"):
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "working", stop)
    words = ["--base", base, "--batch", 12, "--learning-rate", "0.01", "--quiet"]
    outcome = command("train", text, "-o", output, *words)

    assert (outcome.code, changes) == (130, [0])
    assert changed_numbers(output / "adapter.gguf") > 0
    assert (output / "adapter_model.safetensors").exists()
    assert (
        len(json.loads((output / "training.json").read_text())["losses"]) == 3
    )  # Before training, and after two epochs.
    assert f"best epoch so far is {output / 'adapter.gguf'}" in " ".join(outcome.err.split())
    assert [file.name for file in output.iterdir() if "adapter.gguf" in file.name] == [
        "adapter.gguf"
    ]


def test_an_interruption_before_anything_is_saved_names_no_adapter(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(progress: Progress, message: str) -> None:
        raise KeyboardInterrupt

    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter.gguf").write_bytes(b"of an earlier training")
    monkeypatch.setattr(Progress, "working", stop)
    base = make_base(tmp_path / "base")
    outcome = command("train", text, "-o", tmp_path / "adapter", "--base", base, "--quiet")

    assert outcome.code == 130
    assert "adapter.gguf" not in outcome.err


def test_a_kind_that_has_no_gguf_adapter_is_trained_all_the_same(
    command: Command, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gguf_adapter, "ARCHITECTURES", ("gemma",))
    base, output = make_base(tmp_path / "base"), tmp_path / "adapter"
    outcome = command("train", text, "-o", output, "--base", base, "--steps", 1, "--quiet")

    assert outcome.code == 2
    assert "kind 'qwen2'" in outcome.err
    assert (output / "adapter_model.safetensors").exists()
    assert json.loads((output / "training.json").read_text())["steps"] == 1


@pytest.mark.parametrize("kind", gguf_adapter.ARCHITECTURES)
def test_each_kind_that_has_a_gguf_adapter_can_be_taught(kind: str) -> None:
    import gguf
    import torch
    import transformers

    with torch.device("meta"):
        config = transformers.AutoConfig.for_model(kind, num_hidden_layers=1)
        model = transformers.AutoModelForCausalLM.from_config(config)
    names = [name for name, _ in model.named_modules() if name.endswith(("q_proj", "v_proj"))]
    numbers = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}
    name_map = gguf.get_tensor_name_map(numbers[kind], 1)

    assert {name_map.get_name(name) for name in names} == {"blk.0.attn_q", "blk.0.attn_v"}


def test_a_kind_whose_projections_are_one_matrix_is_refused(
    command: Command, text: Path, tmp_path: Path
) -> None:
    import transformers

    base = make_base(tmp_path / "base")
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "pad_token_id": 0}
    config = transformers.Phi3Config(vocab_size=257, **heads, **SIZES)
    transformers.Phi3ForCausalLM(config).save_pretrained(base)
    outcome = command("train", text, "-o", tmp_path / "adapter", "--base", base, "--quiet")

    assert outcome.code == 2
    assert "no q_proj or v_proj to adapt" in " ".join(outcome.err.split())


def test_a_target_that_the_adapter_does_not_fit_is_refused_before_the_first_step(
    command: Command, text: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.gguf"
    write_gguf(target, {"general.architecture": "qwen2"}, {"blk.0.attn_q.weight": (32, 32)})
    base, output = make_base(tmp_path / "base"), tmp_path / "adapter"
    outcome = command("train", text, "-o", output, "--base", base, "--for", target)

    assert outcome.code == 2
    assert "made for another model than target.gguf" in " ".join(outcome.err.split())
    assert "Epoch" not in outcome.err


def test_without_queries_it_is_taught_searches_without_words(
    command: Command, text: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.jsonl"
    bare.write_text(text.read_text().replace("sum of leaves", ""), encoding="utf-8")
    words = ["--base", make_base(tmp_path / "base"), "--steps", 1, "--quiet", "--json"]
    plain = command("train", text, "-o", tmp_path / "a", *words).json
    without = command("train", text, "-o", tmp_path / "b", *words, "--no-query").json
    written_so = command("train", bare, "-o", tmp_path / "c", *words).json

    assert without["losses"] == written_so["losses"] != plain["losses"]
    assert (plain["has_queries"], without["has_queries"]) == (True, False)


def test_running_out_of_memory_says_what_to_lower() -> None:
    import torch

    with pytest.raises(SetupError, match=r"--batch 64 .*--max-tokens 9000.*bfloat16"):  # noqa: SIM117
        with memory_errors(replace(RECIPE, batch=64, max_tokens=9000)):
            torch.empty(1 << 50)


def test_other_errors_stay_what_they_are() -> None:
    import torch

    with pytest.raises(RuntimeError, match="shape"), memory_errors(RECIPE):
        torch.empty(4).reshape(3)


def test_a_folder_that_cannot_be_made_is_said_before_anything_is_read(
    command: Command, text: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    words = ["-o", tmp_path / "file/adapter", "--base", make_base(tmp_path / "base")]

    outcome = command("train", text, *words)

    assert outcome.code == 2
    assert "--output: [Errno 20]" in " ".join(outcome.err.split())
    assert "Reading" not in outcome.err


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
