"""The data sets by name: where they are published, and the form of each.

Addresses name a commit, so what lies there does not change. None of the files is part of this
project. Their SHA-256 could not be looked up where this was written: it is noted when a file is
first fetched, and held to from then on; ``sha256`` here wins where it is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from exploracoder_bench.datasets.interpreters import PythonOf
from exploracoder_bench.datasets.pycodegpt import read_completions
from exploracoder_bench.datasets.torchdata_tasks import read_columns
from exploracoder_bench.problems import Problem

_PYCODEGPT = "https://raw.githubusercontent.com/microsoft/PyCodeGPT"
_PRIVATE = f"{_PYCODEGPT}/0e88e7567c7596f249c95b5489237a171ac5cf47/apicoder/private-eval/data"
_PUBLIC = f"{_PYCODEGPT}/8a2dc2d35ea768199864b97cb06d5a5227e35cf0/cert/pandas-numpy-eval/data"
_EXPLORACODER = "https://raw.githubusercontent.com/greenlight2000/ExploraCoder_paper"

Read = Callable[["Published", Path, PythonOf], list[Problem]]


@dataclass(frozen=True, slots=True)
class Published:
    """A data set: its name, library, address, and how its file is read."""

    name: str
    library: str
    url: str
    read: Read
    sha256: str | None = None

    @property
    def file_name(self) -> str:
        """What the file is called where it is published."""
        return self.url.rpartition("/")[2]


def _completions(one: Published, file: Path, python_of: PythonOf) -> list[Problem]:
    return read_completions(file, one.name, one.library, python_of)


def _columns(one: Published, file: Path, python_of: PythonOf) -> list[Problem]:
    return read_columns(file, one.name, one.library, python_of)


# Source: TorchDataEval, MonkeyEval, BeatNumEval: Zan et al. 2022, "When Language Model Meets
# Private Library"; PandasEval, NumpyEval: Zan et al. 2022, "CERT"; Torchdata-Github, -Manual:
# ExploraCoder, section 4.
PUBLISHED = {
    one.name: one
    for one in (
        Published("PandasEval", "pandas", f"{_PUBLIC}/PandasEval.jsonl.gz", _completions),
        Published("NumpyEval", "numpy", f"{_PUBLIC}/NumpyEval.jsonl.gz", _completions),
        Published("MonkeyEval", "monkey", f"{_PRIVATE}/real_monkey_eval_v3.jsonl.gz", _completions),
        Published(
            "BeatNumEval", "beatnum", f"{_PRIVATE}/real_beatnum_eval_v3.jsonl.gz", _completions
        ),
        Published(
            "TorchDataEval",
            "torchdata",
            f"{_PRIVATE}/real_torchdata_eval_v3.jsonl.gz",
            _completions,
        ),
        Published(
            "Torchdata-Github",
            "torchdata",
            f"{_EXPLORACODER}/f9f2af621b3a394218d478e4e08e2e4719b20e4f/datasets/Torchdata_Github.json",
            _columns,
        ),
        Published(
            "Torchdata-Manual",
            "torchdata",
            f"{_EXPLORACODER}/76a77067a6c1e2cfc60fe484e4dc8c9c68418761/datasets/Torchdata_Manual.json",
            _columns,
        ),
    )
}
