"""The data sets by name: where each is published, and how it is read.

URLs name a commit, so their content does not change. None of the files is part of this project.
Their SHA-256 is recorded when a file is first fetched, and verified from then on.

The pins are those with which the known solutions pass (Python 3.11; pandas 1.5 and numpy 1.23 have
wheels for no newer one). The private libraries are made of pandas and numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from exploracoder.errors import InputError

from exploracoder_bench.datasets.interpreters import PythonOf
from exploracoder_bench.datasets.pycodegpt import read_completions
from exploracoder_bench.datasets.torchdata_tasks import read_columns
from exploracoder_bench.problems import Problem

_PYCODEGPT = "https://raw.githubusercontent.com/microsoft/PyCodeGPT"
_PRIVATE = f"{_PYCODEGPT}/0e88e7567c7596f249c95b5489237a171ac5cf47/apicoder/private-eval/data"
_PUBLIC = f"{_PYCODEGPT}/8a2dc2d35ea768199864b97cb06d5a5227e35cf0/cert/pandas-numpy-eval/data"
_EXPLORACODER = "https://raw.githubusercontent.com/greenlight2000/ExploraCoder_paper"

_REPOCLASSBENCH = "https://raw.githubusercontent.com/microsoft/repoclassbench"

PANDAS = ("pandas==1.5.3", "numpy==1.23.5")
TORCHDATA = (
    "torchdata==0.7.1",
    "torch==2.13.0",
    "numpy==1.26.4",
    "pandas==2.2.3",
    "pyarrow==18.1.0",
    "requests==2.34.2",
    "fsspec==2026.9.0",
    # Later versions have no wheel.
    "iopath==0.1.9",
)

# Reads a file: with the data set's name, its library, and the interpreters.
Read = Callable[[Path, str, str, PythonOf], list[Problem]]


@dataclass(frozen=True, slots=True)
class PublishedDataset:
    """A data set: its name, library, address, how its file is read, and the pins it requires."""

    name: str
    library: str
    url: str
    read: Read
    requires: tuple[str, ...]

    @property
    def file_name(self) -> str:
        """The file's name where it is published."""
        return self.url.rpartition("/")[2]


def _no_problems(file: Path, name: str, library: str, python_of: PythonOf) -> list[Problem]:
    """Always raises InputError: without its repositories the file makes no problems."""
    raise InputError(
        f"{name}'s repositories come apart from {file}. Make tasks of both: exploracoder bench"
        f" class-tasks DIR --classes {file} --repositories FOLDER --python EXE; then say --problems"
        " DIR."
    )


# Source: TorchDataEval, MonkeyEval, BeatNumEval: Zan et al. 2022, "When Language Model Meets
# Private Library"; PandasEval, NumpyEval: Zan et al. 2022, "CERT"; Torchdata-Github, -Manual:
# ExploraCoder, section 4; RepoClassBench: its section 3.
PUBLISHED = {
    one.name: one
    for one in (
        PublishedDataset(
            "PandasEval", "pandas", f"{_PUBLIC}/PandasEval.jsonl.gz", read_completions, PANDAS
        ),
        PublishedDataset(
            "NumpyEval", "numpy", f"{_PUBLIC}/NumpyEval.jsonl.gz", read_completions, PANDAS
        ),
        PublishedDataset(
            "MonkeyEval",
            "monkey",
            f"{_PRIVATE}/real_monkey_eval_v3.jsonl.gz",
            read_completions,
            PANDAS,
        ),
        PublishedDataset(
            "BeatNumEval",
            "beatnum",
            f"{_PRIVATE}/real_beatnum_eval_v3.jsonl.gz",
            read_completions,
            PANDAS,
        ),
        PublishedDataset(
            "TorchDataEval",
            "torchdata",
            f"{_PRIVATE}/real_torchdata_eval_v3.jsonl.gz",
            read_completions,
            TORCHDATA,
        ),
        PublishedDataset(
            "Torchdata-Github",
            "torchdata",
            f"{_EXPLORACODER}/f9f2af621b3a394218d478e4e08e2e4719b20e4f/datasets/Torchdata_Github.json",
            read_columns,
            TORCHDATA,
        ),
        PublishedDataset(
            "Torchdata-Manual",
            "torchdata",
            f"{_EXPLORACODER}/76a77067a6c1e2cfc60fe484e4dc8c9c68418761/datasets/Torchdata_Manual.json",
            read_columns,
            TORCHDATA,
        ),
        PublishedDataset(
            "RepoClassBench",
            "",
            f"{_REPOCLASSBENCH}/e850c3fa438357e1ceabfecc9f650f3473ce3604/data/input/python_data.json",
            _no_problems,
            (),
        ),
    )
}


def pins_of(libraries: Sequence[str]) -> tuple[str, ...]:
    """The pins of the published data sets, for the first of these libraries that has one."""
    requirements = {one.library: one.requires for one in PUBLISHED.values()}
    return next((requirements[name] for name in libraries if name in requirements), ())
