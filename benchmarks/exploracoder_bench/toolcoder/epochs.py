"""Epochs of steps over training texts; the adapter of the best one is saved.

Source: ToolCoder, appendix D.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exploracoder_bench.toolcoder.recipe import Recipe

OnProgress = Callable[[str], None]
OnSave = Callable[[], None]

_VALIDATION = 0.1


@dataclass(slots=True)
class Course:
    """The course of a training: ``losses`` on the validation texts, before it and after each epoch;
    the ``best`` epoch (0: before training); the ``steps`` taken.
    """

    losses: list[float]
    best: int = 0
    steps: int = 0


@dataclass(slots=True)
class Epochs:
    """One training: ``model`` is changed, and saved in ``output`` each time it improves."""

    tokenizer: Any
    model: Any
    recipe: Recipe
    device: str
    output: Path
    on_progress: OnProgress
    on_save: OnSave
    validation_texts: int = 0

    def train(self, rows: list[list[int]], on_loss: Callable[[Course], object]) -> Course:
        """Train, and return how it went; ``on_loss`` is called whenever a loss was measured."""
        import torch

        self.validation_texts = max(1, int(len(rows) * _VALIDATION))
        validation, rest = rows[: self.validation_texts], rows[self.validation_texts :]
        optimizer = torch.optim.AdamW(
            (one for one in self.model.parameters() if one.requires_grad),
            lr=self.recipe.learning_rate,
        )
        self.on_progress("Measuring the loss before training")
        course = Course([self._loss(validation)])
        self._save()
        on_loss(course)
        for epoch in range(1, 1 + self.recipe.epochs):
            self._epoch(epoch, rest, optimizer, course)
            course.losses.append(self._loss(validation))
            self.on_progress(f"Epoch {epoch}: validation loss {course.losses[-1]:.3f}")
            if course.losses[-1] < course.losses[course.best]:
                course.best = epoch
                self._save()
            on_loss(course)
            if self._is_over(course):
                break
        return course

    def _epoch(self, epoch: int, rows: list[list[int]], optimizer: Any, course: Course) -> None:
        for batch in self._batches(rows, epoch):
            if self._is_over(course):
                return
            loss = self._step(batch, optimizer)
            course.steps += 1
            self.on_progress(
                f"Epoch {epoch} of {self.recipe.epochs}, step {course.steps}: loss {loss:.3f}"
            )

    def _is_over(self, course: Course) -> bool:
        return self.recipe.steps is not None and course.steps >= self.recipe.steps

    def _batches(self, rows: list[list[int]], epoch: int) -> Iterator[list[list[int]]]:
        permutation = random.Random(self.recipe.seed + epoch).sample(rows, len(rows))
        for start in range(0, len(permutation), self.recipe.batch):
            yield permutation[start : start + self.recipe.batch]

    def _step(self, rows: list[list[int]], optimizer: Any) -> float:
        self.model.train()
        mean = 0.0
        for part, share in self._parts(rows):
            loss = self.model(**self._padded(part)).loss * share
            loss.backward()
            mean += float(loss.detach())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return mean

    def _parts(self, rows: list[list[int]]) -> Iterator[tuple[list[list[int]], float]]:
        """What goes through the model at once, and its share of the predicted tokens.

        Text by text the gradient is the same, without most of the memory that all of them would
        take: three copies of the logits, which have a number for each token of the vocabulary.
        """
        if not self.recipe.saves_memory:
            yield rows, 1.0
            return
        token_count = sum(len(row) - 1 for row in rows)
        for row in rows:
            yield [row], (len(row) - 1) / token_count

    def _loss(self, rows: list[list[int]]) -> float:
        import torch

        self.model.eval()
        with torch.no_grad():
            losses = [float(self.model(**self._padded([row])).loss) for row in rows]
        return sum(losses) / len(losses)

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
        # No token was added, so the embeddings need not be saved.
        self.model.save_pretrained(self.output, save_embedding_layers=False)
        self.on_save()
