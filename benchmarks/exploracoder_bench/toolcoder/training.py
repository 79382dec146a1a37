"""Parameter-efficient fine-tuning on training text, by PEFT and transformers.

Source: ToolCoder, section 3.3, and appendices B (LoRA on the attention's projections) and D (batch
8, learning rate 1e-4, 10 epochs, the checkpoint with the least validation loss).
"""

from __future__ import annotations

import importlib
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder.errors import InputError, SetupError, raised_as
from exploracoder.state import State
from exploracoder.toolcoder import calls

from exploracoder_bench.toolcoder.epochs import Course, Epochs, OnProgress, OnSave
from exploracoder_bench.toolcoder.training_memory import Load, check_memory, memory_errors

if TYPE_CHECKING:
    from exploracoder_bench.toolcoder.base_model import Base
    from exploracoder_bench.toolcoder.recipe import Recipe

REPORT = "training.json"
# What LoRA changes: the projections of queries and values (its authors' choice).
_TARGETS = ["q_proj", "v_proj"]


class TrainingReport(State):
    """The outcome of a training.

    ``trainable_share`` is that of all parameters. ``losses`` are means over the validation texts,
    before training and after each epoch. ``mark_tokens`` says how many tokens each mark of a search
    takes: they are plain text, since an adapter adds no words to a vocabulary. ``has_queries`` says
    whether the searches of the texts kept theirs.
    """

    base: str
    base_sha256: str
    texts: int
    validation_texts: int
    rank: int
    trainable_parameters: int
    trainable_share: float
    steps: int
    losses: tuple[float, ...]
    best_epoch: int
    seconds_loading: float
    seconds_training: float
    device: str
    precision: str
    mark_tokens: dict[str, int]
    has_queries: bool = True


def check_libraries() -> None:
    """Raise SetupError if a library that training needs is not installed."""
    try:
        for name in ("torch", "transformers", "peft", "gguf"):
            importlib.import_module(name)
    except ImportError as error:
        raise SetupError(
            f"Training needs {error.name or 'PyTorch'}. Run: pip install 'exploracoder[train]'"
        ) from None


def train(
    texts: Sequence[str],
    base: Base,
    recipe: Recipe,
    output: Path,
    on_progress: OnProgress,
    on_save: OnSave = lambda: None,
) -> TrainingReport:
    """Train an adapter and save it, in PEFT's form, in the folder ``output``.

    It is saved before the first epoch and after each one that improves it, so that an interruption
    loses only what came after the best one; ``on_save`` is called each time. The report is written
    with each loss.

    Raises:
        InputError: There are fewer than two texts, or the model cannot be read or adapted.
        SetupError: There is not enough memory, a library is missing, or ``output`` cannot be made.
    """
    check_libraries()
    from exploracoder_bench.toolcoder import base_model

    if len(texts) < 2:
        raise InputError(
            f"There are {len(texts)} training texts; one is needed to learn from and one to"
            " validate with. Make more with 'exploracoder annotate'."
        )
    with raised_as(SetupError, OSError, of="--output"):
        # Before anything is loaded, which takes minutes.
        output.mkdir(parents=True, exist_ok=True)
    device, precision = _place(recipe)
    start = time.monotonic()
    with memory_errors(recipe):
        on_progress("Reading the tokenizer")
        tokenizer = base_model.load_tokenizer(base)
        lessons = [calls.without_queries(one) for one in texts] if recipe.drops_queries else texts
        rows = _encoded(lessons, tokenizer, recipe)
        check_memory(base.sizes, device, _load(rows, recipe, precision))
        on_progress("Reading the weights")
        model = _adapted(base_model.load_model(base, device, precision), recipe)
        training_start = time.monotonic()
        run = Epochs(tokenizer, model, recipe, device, output, on_progress, on_save)
        facts = _facts(base, recipe, run, tokenizer)

        def write(course: Course) -> TrainingReport:
            report = TrainingReport(
                **facts,
                texts=len(texts) - run.validation_texts,
                validation_texts=run.validation_texts,
                steps=course.steps,
                losses=tuple(course.losses),
                best_epoch=course.best,
                seconds_loading=training_start - start,
                seconds_training=time.monotonic() - training_start,
                precision=precision,
            )
            text = report.model_dump_json(indent=1) + "\n"
            (output / REPORT).write_text(text, encoding="utf-8")
            return report

        return write(run.train(rows, write))


def _facts(base: Base, recipe: Recipe, run: Epochs, tokenizer: Any) -> dict[str, Any]:
    """What a report can say about a training before it begins."""
    trainable, total = _sizes(run.model)
    marks = (calls.OPEN, calls.NAME, calls.ARROW, calls.CLOSE)
    return {
        "base": str(base.path),
        "base_sha256": base.sha256,
        "rank": recipe.rank,
        "trainable_parameters": trainable,
        "trainable_share": trainable / total,
        "device": run.device,
        "mark_tokens": {
            mark: len(tokenizer(mark, add_special_tokens=False)["input_ids"]) for mark in marks
        },
        "has_queries": not recipe.drops_queries,
    }


def _place(recipe: Recipe) -> tuple[str, str]:
    """The device and the precision. Raises InputError when there is no such device."""
    import torch

    has_gpu = torch.cuda.is_available()
    device = recipe.device
    if device == "auto":
        device = "cuda" if has_gpu else "cpu"
    if device.startswith("cuda") and not has_gpu:
        raise InputError("PyTorch finds no GPU here. Leave --device out, or take --device cpu.")
    precision = recipe.precision
    if precision == "auto":
        precision = "bfloat16" if device.startswith("cuda") else "float32"
    return device, precision


def _adapted(model: Any, recipe: Recipe) -> Any:
    import peft
    import torch

    torch.manual_seed(recipe.seed)
    form = peft.LoraConfig(
        r=recipe.rank, lora_alpha=recipe.alpha, target_modules=_TARGETS, task_type="CAUSAL_LM"
    )
    if recipe.saves_memory:
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    try:
        return peft.get_peft_model(model, form)
    except ValueError as error:
        raise InputError(
            f"The model has no {' or '.join(_TARGETS)} to adapt. Name another with --base."
        ) from error


def _sizes(model: Any) -> tuple[int, int]:
    parameters = list(model.parameters())
    trainable = sum(one.numel() for one in parameters if one.requires_grad)
    return trainable, sum(one.numel() for one in parameters)


def _encoded(texts: Sequence[str], tokenizer: Any, recipe: Recipe) -> list[list[int]]:
    """The token ids of each text, with its end marked, in an order that the seed decides."""
    rows = [
        (tokenizer(text)["input_ids"] + [tokenizer.eos_token_id])[: recipe.max_tokens]
        for text in texts
    ]
    random.Random(recipe.seed).shuffle(rows)
    return rows


def _load(rows: Sequence[Sequence[int]], recipe: Recipe, precision: str) -> Load:
    return Load(
        element_bytes=4 if precision == "float32" else 2,
        texts=min(recipe.batch, len(rows)),
        tokens=max(map(len, rows)),
        saves_memory=recipe.saves_memory,
    )
