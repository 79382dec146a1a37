"""Parameter-efficient fine-tuning on training text, by PEFT and transformers.

Source: ToolCoder, section 3.3, and appendices B (LoRA on the attention's projections) and D (batch
8, learning rate 1e-4, 10 epochs, the checkpoint with the least validation loss).
"""

from __future__ import annotations

import importlib
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder.errors import InputError, SetupError
from exploracoder.state import State
from exploracoder.toolcoder import calls

if TYPE_CHECKING:
    from exploracoder.toolcoder.base_model import Base

Working = Callable[[str], None]

REPORT = "training.json"
_VALIDATION = 0.1
# What LoRA changes: the projections of queries and values (its authors' choice).
_TARGETS = ["q_proj", "v_proj"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. ``steps`` ends it early; ``max_tokens`` cuts each text."""

    rank: int = 8
    alpha: int = 16
    epochs: int = 10
    steps: int | None = None
    batch: int = 8
    learning_rate: float = 1e-4
    max_tokens: int = 512
    seed: int = 0
    device: str = "auto"
    precision: str = "auto"
    saves_memory: bool = False


class TrainingReport(State):
    """What came of it.

    ``trainable_share`` is that of all parameters. ``losses`` are means over the validation texts,
    before training and after each epoch. ``mark_tokens`` says how many tokens each mark of a search
    takes: they are plain text, since an adapter adds no words to a vocabulary.
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


def check_libraries() -> None:
    """Raises SetupError when what training needs is not installed."""
    try:
        for name in ("torch", "transformers", "peft", "gguf"):
            importlib.import_module(name)
    except ImportError as error:
        raise SetupError(
            f"Training needs {error.name or 'PyTorch'}. Run: pip install 'exploracoder[train]'"
        ) from None


def train(
    texts: Sequence[str], base: Base, recipe: Recipe, output: Path, working: Working
) -> TrainingReport:
    """Train an adapter and save it, in PEFT's form, in the folder ``output``.

    It is saved whenever an epoch made it better, so that an interruption loses one epoch at most.

    Raises:
        InputError: There are fewer than two texts, or the model cannot be read or adapted.
        SetupError: The memory does not suffice, or a library is missing.
    """
    check_libraries()
    from exploracoder.toolcoder import base_model

    if len(texts) < 2:
        raise InputError(
            f"There are {len(texts)} training texts; one is needed to learn from and one to"
            " validate with. Make more with 'exploracoder annotate'."
        )
    device, precision = _place(recipe)
    started = time.monotonic()
    with memory_errors(recipe):
        base_model.check_memory(base, device, 4 if precision == "float32" else 2)
        tokenizer, plain = base_model.load(base, device, precision, working)
        loaded = time.monotonic()
        run = _Run(tokenizer, _adapted(plain, recipe), recipe, device, output, working)
        losses, best, steps = run.train(_encoded(texts, tokenizer, recipe))
    trainable, total = _sizes(run.model)
    report = TrainingReport(
        base=str(base.path),
        base_sha256=base.sha256,
        texts=len(texts) - run.validation_texts,
        validation_texts=run.validation_texts,
        rank=recipe.rank,
        trainable_parameters=trainable,
        trainable_share=trainable / total,
        steps=steps,
        losses=tuple(losses),
        best_epoch=best,
        seconds_loading=loaded - started,
        seconds_training=time.monotonic() - loaded,
        device=device,
        precision=precision,
        mark_tokens={
            mark: len(tokenizer(mark, add_special_tokens=False)["input_ids"])
            for mark in (calls.OPEN, calls.NAME, calls.ARROW, calls.CLOSE)
        },
    )
    (output / REPORT).write_text(report.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return report


@contextmanager
def memory_errors(recipe: Recipe) -> Iterator[None]:
    """Turns running out of memory into a SetupError that says what to lower."""
    import torch

    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        is_lack = isinstance(error, torch.OutOfMemoryError | MemoryError)
        if not is_lack and "can't allocate memory" not in str(error):
            raise
        raise SetupError(
            f"Out of memory with --batch {recipe.batch} and --max-tokens {recipe.max_tokens}."
            " Lower one of them, or --rank; or take --precision bfloat16, --save-memory (slower),"
            " or a smaller --base."
        ) from error


def _place(recipe: Recipe) -> tuple[str, str]:
    """The device and the kind of numbers. Raises InputError when the device is not there."""
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
    """Token numbers of each text, its end marked, in an order that the seed decides."""
    rows = [
        (tokenizer(text)["input_ids"] + [tokenizer.eos_token_id])[: recipe.max_tokens]
        for text in texts
    ]
    random.Random(recipe.seed).shuffle(rows)
    return rows


@dataclass(slots=True)
class _Run:
    tokenizer: Any
    model: Any
    recipe: Recipe
    device: str
    output: Path
    working: Working
    validation_texts: int = 0

    def train(self, rows: list[list[int]]) -> tuple[list[float], int, int]:
        """The losses, the best epoch (0: before training), and the steps that were made."""
        import torch

        self.validation_texts = max(1, int(len(rows) * _VALIDATION))
        validation, rest = rows[: self.validation_texts], rows[self.validation_texts :]
        optimizer = torch.optim.AdamW(
            (one for one in self.model.parameters() if one.requires_grad),
            lr=self.recipe.learning_rate,
        )
        self.working("Measuring the loss before training")
        losses, best, steps = [self._loss(validation)], 0, 0
        self._save()
        for epoch in range(1, 1 + self.recipe.epochs):
            for batch in self._batches(rest, epoch):
                if self.recipe.steps is not None and steps >= self.recipe.steps:
                    break
                loss = self._step(batch, optimizer)
                steps += 1
                self.working(
                    f"Epoch {epoch} of {self.recipe.epochs}, step {steps}: loss {loss:.3f}"
                )
            losses.append(self._loss(validation))
            self.working(f"Epoch {epoch}: validation loss {losses[-1]:.3f}")
            if losses[-1] < losses[best]:
                best = epoch
                self._save()
            if self.recipe.steps is not None and steps >= self.recipe.steps:
                break
        return losses, best, steps

    def _batches(self, rows: list[list[int]], epoch: int) -> Iterator[list[list[int]]]:
        ordered = random.Random(self.recipe.seed + epoch).sample(rows, len(rows))
        for start in range(0, len(ordered), self.recipe.batch):
            yield ordered[start : start + self.recipe.batch]

    def _step(self, rows: list[list[int]], optimizer: Any) -> float:
        self.model.train()
        loss = self.model(**self._padded(rows)).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    def _loss(self, rows: list[list[int]]) -> float:
        import torch

        self.model.eval()
        with torch.no_grad():
            found = [float(self.model(**self._padded([row])).loss) for row in rows]
        return sum(found) / len(found)

    def _padded(self, rows: list[list[int]]) -> dict[str, Any]:
        import torch

        longest, pad = max(map(len, rows)), self.tokenizer.pad_token_id

        def filled(row: list[int], value: int) -> list[int]:
            return row + [value] * (longest - len(row))

        numbers = {
            "input_ids": [filled(row, pad) for row in rows],
            "attention_mask": [filled([1] * len(row), 0) for row in rows],
            "labels": [filled(row, -100) for row in rows],
        }
        return {name: torch.tensor(value, device=self.device) for name, value in numbers.items()}

    def _save(self) -> None:
        # No word was added, so nothing of the vocabulary need be saved.
        self.model.save_pretrained(self.output, save_embedding_layers=False)


def read_report(folder: Path) -> TrainingReport:
    """The report of an earlier training. Raises InputError when there is none."""
    try:
        return TrainingReport.model_validate(json.loads((folder / REPORT).read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder} holds no result of 'exploracoder train'.") from error
