"""Notebooks written by others, run by nbclient on our kernel and on ipykernel: equal outputs?

Run: ``python -m exploracoder_bench.notebooks_of_others FOLDER --python EXE [--fetch PACKAGE,...]``

Every notebook below FOLDER runs twice, each time in a copy of its own folder, with one interpreter
and one environment. The outputs are compared without what differs from run to run: see
``notebook_outputs.py``; a cell whose outputs differ between two runs on ipykernel itself is left
out. ``--fetch`` first fills FOLDER with the notebooks in the source distributions of packages. EXE
needs ipykernel and what the notebooks import.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from exploracoder_kernel.environment import clean_environment
from exploracoder_kernel.kernel import spec

from exploracoder_bench.markdown import markdown
from exploracoder_bench.notebook_outputs import Difference, differences

_OURS, _THEIRS = "exploracoder-measured", "ipykernel-measured"
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Setting:
    """How the notebooks are run."""

    python: str
    sandbox: spec.Level
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Compared:
    """One notebook, run by both kernels."""

    name: str
    cells: int
    errors: int
    ours_s: float
    theirs_s: float
    difference: Difference | None

    @property
    def verdict(self) -> str:
        """``equal``, or where it differs first."""
        if self.difference is None:
            return "equal"
        return f"cell {self.difference.cell} differs"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print a table; 0 when all are equal."""
    given = _parser().parse_args(arguments)
    for package in filter(None, given.fetch.split(",")):
        print(f"{package}: {fetch(package, given.folder)} notebooks", file=sys.stderr)
    notebooks = list(find(given.folder, given.least_cells))[: given.count]
    if not notebooks:
        print(f"Error: no notebook below {given.folder}. Try --fetch.", file=sys.stderr)
        return 2
    setting = Setting(given.python, given.sandbox, given.timeout)
    with tempfile.TemporaryDirectory(prefix="exploracoder-") as home:
        _write_specs(Path(home), setting)
        compared = []
        for path in notebooks:
            one = compare(path, given.folder, setting)
            compared.append(one)
            print(f"{one.name}: {one.verdict}", file=sys.stderr, flush=True)
    _report(compared, given.out)
    return 0 if all(one.difference is None for one in compared) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the notebooks are")
    parser.add_argument("--fetch", default="", metavar="PACKAGES", help="separated by commas")
    parser.add_argument("--python", default=sys.executable, metavar="EXE")
    parser.add_argument("--count", type=int, default=20, metavar="N", help="at most so many")
    parser.add_argument("--least-cells", type=int, default=1, metavar="N", help="shorter: left out")
    parser.add_argument("--timeout", type=float, default=120, metavar="S", help="of one cell")
    parser.add_argument(
        "--sandbox", choices=("auto", "strict", "network", "off"), default="auto", help="of ours"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="append JSON lines to FILE")
    return parser


def fetch(package: str, folder: Path) -> int:
    """Put the notebooks of a package's source distribution below ``folder``; how many they are."""
    with tempfile.TemporaryDirectory(prefix="exploracoder-") as downloads:
        options = ("--quiet", "--no-deps", "--no-binary", ":all:", "--dest", downloads)
        command = (sys.executable, "-m", "pip", "download", *options, package)
        subprocess.run(command, check=True)
        archives = list(Path(downloads).glob("*.tar.gz"))
        return sum(unpack(archive, folder / package) for archive in archives)


def unpack(archive: Path, folder: Path) -> int:
    """Unpack the folders of an archive that hold notebooks, with the files beside them."""
    with tarfile.open(archive) as tar:
        members = [member for member in tar.getmembers() if member.isfile()]
        notebooks = [one for one in members if one.name.endswith(".ipynb")]
        places = {PurePosixPath(one.name).parent for one in notebooks}
        wanted = [one for one in members if PurePosixPath(one.name).parent in places]
        tar.extractall(folder, wanted, filter="data")
    return len(notebooks)


def find(folder: Path, least_cells: int) -> Iterator[Path]:
    """The notebooks of Python below a folder that have enough code."""
    for path in sorted(folder.rglob("*.ipynb")):
        try:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
            language = notebook["metadata"].get("kernelspec", {}).get("language", "python")
        except (ValueError, KeyError, AttributeError):
            continue
        is_run = [cell for cell in cells if "".join(cell["source"]).strip()]
        if language.lower() == "python" and len(is_run) >= max(least_cells, 1):
            yield path


def compare(path: Path, folder: Path, setting: Setting) -> Compared:
    """Run one notebook on both kernels, and once more on ipykernel to see what it repeats."""
    with tempfile.TemporaryDirectory(prefix="exploracoder-") as scratch:
        # One folder after the other, under one name: what a notebook says of it is the same.
        place = Path(scratch) / "work"
        ours, ours_s = _executed(path, place, _OURS, setting)
        theirs, theirs_s = _executed(path, place, _THEIRS, setting)
        found = differences(ours, theirs, [place])
        if found:
            again, _again_s = _executed(path, place, _THEIRS, setting)
            by_chance = {one.cell for one in differences(again, theirs, [place])}
            found = [one for one in found if one.cell not in by_chance]
    code = [cell for cell in theirs.cells if cell.cell_type == "code"]
    errors = sum(any(o.output_type == "error" for o in cell.outputs) for cell in code)
    name = str(path.relative_to(folder))
    return Compared(name, len(code), errors, ours_s, theirs_s, found[0] if found else None)


def _executed(path: Path, place: Path, kernel: str, setting: Setting) -> tuple[Any, float]:
    import nbclient
    import nbformat

    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(path.parent, place, symlinks=True)
    notebook = nbformat.read(place / path.name, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        kernel_name=kernel,
        timeout=setting.timeout_s,
        allow_errors=True,
        resources={"metadata": {"path": str(place)}},
    )
    started = time.monotonic()
    try:
        client.execute(env=_environment())
    except nbclient.exceptions.CellExecutionError:
        pass
    except (nbclient.exceptions.CellTimeoutError, nbclient.exceptions.DeadKernelError) as error:
        print(f"{path.name} on {kernel}: {type(error).__name__}", file=sys.stderr)
    return notebook, time.monotonic() - started


def _environment() -> Mapping[str, str]:
    """One environment for both: equal hashes, one thread each, and where Jupyter's files are."""
    jupyters = {name: value for name, value in os.environ.items() if name.startswith("JUPYTER_")}
    clean = clean_environment(os.environ, jupyters)
    return {name: value for name, value in clean.items() if name != "MPLBACKEND"}


def _write_specs(home: Path, setting: Setting) -> None:
    os.environ["JUPYTER_PATH"] = str(home / "share" / "jupyter")
    spec.install(setting.python, name=_OURS, sandbox=setting.sandbox, prefix=home)
    theirs = home / "share" / "jupyter" / "kernels" / _THEIRS
    theirs.mkdir(parents=True)
    argv = [setting.python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    described = {"argv": argv, "display_name": "ipykernel", "language": "python"}
    (theirs / "kernel.json").write_text(json.dumps(described), encoding="utf-8")


def _report(compared: Sequence[Compared], out: Path | None) -> None:
    rows = [
        (one.name, one.cells, one.errors, f"{one.ours_s:.1f}", f"{one.theirs_s:.1f}", one.verdict)
        for one in compared
    ]
    heads = ("notebook", "cells", "errors", "ours s", "ipykernel s", "outputs")
    print(markdown(heads, rows))
    equal = sum(one.difference is None for one in compared)
    print(f"\n{equal} of {len(compared)} notebooks have equal outputs.")
    for one in compared:
        if one.difference is not None:
            print(f"\n{one.name}, cell {one.difference.cell}")
            left, right = _where_it_starts(one.difference)
            print(f"  ours:      {left!r}\n  ipykernel: {right!r}")
    if out is not None:
        with out.open("a", encoding="utf-8") as lines:
            lines.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in compared)


def _where_it_starts(difference: Difference) -> tuple[str, str]:
    """Both texts from a little before the first character that differs."""
    pairs = enumerate(zip(difference.ours, difference.theirs, strict=False))
    shorter = min(len(difference.ours), len(difference.theirs))
    start = max(0, next((n for n, (one, other) in pairs if one != other), shorter) - 40)
    return difference.ours[start:][:_SHOWN], difference.theirs[start:][:_SHOWN]


if __name__ == "__main__":
    sys.exit(main())
