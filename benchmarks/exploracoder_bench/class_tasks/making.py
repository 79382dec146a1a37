"""A folder of tasks from a list of classes: each a repository that lacks one class.

The folders have the form of a user's own tasks (``exploracoder_bench.datasets.own_tasks``).
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from exploracoder.errors import InputError, SetupError
from exploracoder.tasks import MAX_TASK_CHARS, make_target

from exploracoder_bench.class_tasks.cutting import Cut, cut
from exploracoder_bench.class_tasks.listing import Row
from exploracoder_bench.class_tasks.source_distributions import lay_out
from exploracoder_bench.class_tasks.telling_tests import telling_tests
from exploracoder_bench.environments import environment_of
from exploracoder_bench.progress_lines import Say


def make_class_tasks(rows: Sequence[Row], out: Path, python: str | None, say: Say) -> list[str]:
    """Make the tasks that ``out`` does not have yet; return why there are no others, a line each.

    ``python`` is the interpreter of classes that require nothing. A package that cannot be fetched
    or set up, or a repository that cannot be read, costs its own classes alone.
    """
    refusals = []
    for number, row in enumerate(rows, start=1):
        head = f"{number}/{len(rows)}  {row.name}"
        if (out / row.name).exists():
            say(f"{head}  was there")
            continue
        try:
            tests = _make(row, out, python, say)
            say(f"{head}  {len(tests)} tests")
        except (InputError, SetupError, OSError) as error:
            refusals.append(f"{row.name}: {error}")
            say(f"{head}  refused: {error}")
    return refusals


def _make(row: Row, out: Path, python: str | None, say: Say) -> tuple[str, ...]:
    """Make a task as a whole, or not at all."""
    interpreter = environment_of(row.requires, say) if row.requires else python or sys.executable
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".making-") as beside:
        task, scratch = Path(beside) / "task", Path(beside) / "scratch"
        task.mkdir()
        scratch.mkdir()
        root = lay_out(row, task, say)
        place = make_target(root, row.file)
        assert place is not None, "both were given"
        class_cut = cut(root / place.file, row.class_name)
        (root / place.file).write_text(class_cut.rest, encoding="utf-8")
        say(f"running the tests of {row.name}")
        tests = telling_tests(
            place, row.class_name, class_cut.code, row.tests, python=interpreter, folder=scratch
        )
        _write(task, row, class_cut, tests)
        shutil.rmtree(task / "unpacked", ignore_errors=True)
        task.rename(out / row.name)
    return tests


def _write(task: Path, row: Row, class_cut: Cut, tests: Sequence[str]) -> None:
    text = row.description or class_cut.description
    if len(text) > MAX_TASK_CHARS:
        raise InputError(f"Its description has {len(text)} characters, over {MAX_TASK_CHARS}.")
    about = {
        "entry_point": row.class_name,
        "dataset": row.origin,
        "repository": "repository",
        "file": row.file,
        "tests": list(tests),
        "requires": list(row.requires),
    }
    (task / "task.txt").write_text(text, encoding="utf-8")
    (task / "task.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    (task / "solution.py").write_text(class_cut.code, encoding="utf-8")
