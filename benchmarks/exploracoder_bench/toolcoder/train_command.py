"""``exploracoder train``."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from exploracoder.cli.console import Progress, print_json
from exploracoder.cli.options import json_option
from exploracoder.errors import InputError

if TYPE_CHECKING:
    from exploracoder_bench.toolcoder.training import TrainingReport


@click.command(short_help="Teach a model to search for APIs as it writes.")
@click.argument("text", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.jsonl")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the adapter goes: in PEFT's form, as adapter.gguf, with training.json.",
)
@click.option(
    "--base",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The model to teach: a GGUF file, which is dequantised, or a folder in the form of"
    " transformers. Default: the embedded model.",
)
@click.option(
    "--for",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.gguf",
    help="The same model's GGUF file that the adapter is for, where --base is a folder.",
)
@click.option("--rank", type=click.IntRange(1, 256), default=8, show_default=True, help="LoRA's r.")
@click.option(
    "--alpha", type=click.IntRange(min=1), default=16, show_default=True, help="LoRA's alpha."
)
@click.option(
    "--epochs", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many."
)
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="End after N steps.")
@click.option(
    "--batch", type=click.IntRange(min=1), default=8, show_default=True, help="Texts in one step."
)
@click.option(
    "--learning-rate",
    type=click.FloatRange(min=0, min_open=True),
    default=1e-4,
    show_default=True,
    help="Of the optimiser.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=16),
    default=512,
    show_default=True,
    help="Longer texts are cut.",
)
@click.option(
    "--device", default="auto", show_default=True, metavar="NAME", help="cpu, cuda, or cuda:1."
)
@click.option(
    "--precision",
    type=click.Choice(["auto", "float32", "bfloat16"]),
    default="auto",
    show_default=True,
    help="Of the weights: auto is float32 on a CPU, bfloat16 on a GPU.",
)
@click.option(
    "--save-memory",
    "saves_memory",
    is_flag=True,
    help="Take the texts of a step one by one, and compute activations twice instead of keeping.",
)
@click.option(
    "--no-query",
    "drops_queries",
    is_flag=True,
    help="Teach searches without words, for --method toolcoder-no-query.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all that is random.")
@json_option
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def train(
    text: Path,
    output: Path,
    base: Path | None,
    target: Path | None,
    as_json: bool,
    quiet: bool,
    **recipe: Any,
) -> int:
    """Teach a model to search for APIs as it writes: a LoRA adapter from the text in FILE.jsonl.

    The text is made by 'exploracoder annotate'. The same command trains a small model on a CPU and
    one of 1.5 or 7 thousand million parameters on a GPU. Needs: pip install 'exploracoder[train]'.

    \b
      exploracoder train searches.jsonl --output adapter
      exploracoder explore "…" -l LIB --method toolcoder --model embedded \\
        --lora adapter/adapter.gguf
    """
    from exploracoder.models.adapter import check_adapter, file_sha256

    from exploracoder_bench.toolcoder import gguf_adapter, training
    from exploracoder_bench.toolcoder.base_model import find_base
    from exploracoder_bench.toolcoder.recipe import Recipe
    from exploracoder_bench.toolcoder.training_text import training_text

    training.check_libraries()
    if not text.exists():
        raise InputError(f"There is no {text}. Make it with 'exploracoder annotate'.")
    texts = [row.text for row in training_text(text).read() if row.is_kept]
    found = find_base(base)
    target = target or (found.path if found.is_gguf else None)
    sha256 = found.sha256 if target == found.path else file_sha256(target) if target else ""
    adapters: list[Path] = []

    def convert() -> None:
        """Convert each adapter that is saved, so that an interruption leaves both formats."""
        with suppress(InputError):  # Said at the end, when there is something to keep.
            adapters[:] = [gguf_adapter.convert(output, found.architecture, sha256)]
        if adapters and target is not None:
            check_adapter(adapters[0], target, sha256)

    try:
        with Progress(quiet=quiet) as progress:
            report = training.train(
                texts, found, Recipe(**recipe), output, progress.working, convert
            )
    except KeyboardInterrupt:
        if not adapters:
            raise
        click.echo(f"Interrupted. The adapter of the best epoch so far is {adapters[0]}.", err=True)
        return 130
    adapter = adapters[0] if adapters else gguf_adapter.convert(output, found.architecture, sha256)
    if as_json:
        print_json(report.model_dump() | {"adapter": str(adapter)})
    else:
        click.echo(_in_words(report, adapter))
    return 0


def _in_words(report: TrainingReport, adapter: Path) -> str:
    losses = ", ".join(f"{loss:.3f}" for loss in report.losses)
    return "\n".join(
        (
            f"{report.texts} texts to learn from, {report.validation_texts} to validate with",
            f"rank {report.rank}: {report.trainable_parameters:,} parameters trained,"
            f" {report.trainable_share:.2%} of all",
            f"{report.steps} steps in {report.seconds_training:.0f} s on {report.device}"
            f" ({report.precision}), after {report.seconds_loading:.0f} s of loading",
            f"validation loss before, and after each epoch: {losses}; epoch {report.best_epoch} is"
            " kept",
            f"Adapter: {adapter}",
        )
    )
