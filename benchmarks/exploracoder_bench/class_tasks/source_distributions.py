"""A package's source distribution: fetched once with pip, and unpacked."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
from pathlib import Path

from exploracoder.errors import InputError, SetupError

from exploracoder_bench.class_tasks.listing import Row
from exploracoder_bench.datasets.fetching import home
from exploracoder_bench.environments import pip
from exploracoder_bench.progress_lines import Say


def lay_out(row: Row, folder: Path, say: Say) -> Path:
    """The repository of a class as a folder of its own below ``folder``.

    Raises SetupError when it cannot be obtained, InputError when it has no single top folder.
    """
    root = folder / "repository"
    if row.repository:
        left_out = shutil.ignore_patterns(".git", "__pycache__")
        shutil.copytree(row.repository, root, symlinks=True, ignore=left_out)
        return root
    archive = _archive(row, say)
    try:
        with tarfile.open(archive) as tar:
            # "data": nothing is extracted outside the folder, and no device or link leads there.
            tar.extractall(folder / "unpacked", filter="data")
    except (tarfile.TarError, OSError, TypeError) as error:
        raise SetupError(f"{archive} cannot be unpacked: {error}.") from error
    tops = list((folder / "unpacked").iterdir())
    if len(tops) != 1 or not tops[0].is_dir():
        raise InputError(f"{archive.name} is no source distribution: it has no folder at its top.")
    return tops[0].rename(root)


def _archive(row: Row, say: Say) -> Path:
    """The archive, from the cache folder or from the index; pip verifies its SHA-256."""
    folder = home() / "sources" / row.sha256
    archives = list(folder.glob("*.tar.gz"))
    if archives and hashlib.sha256(archives[0].read_bytes()).hexdigest() == row.sha256:
        return archives[0]
    say(f"fetching the source of {row.package}")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as beside:
        requirements = Path(beside) / "wanted.txt"
        requirements.write_text(f"{row.package} --hash=sha256:{row.sha256}\n", encoding="utf-8")
        words = ["--quiet", "--no-input", "--no-deps", "--no-binary", ":all:", "--require-hashes"]
        pip("download", *words, "--dest", str(folder), "--requirement", str(requirements))
    archives = list(folder.glob("*.tar.gz"))
    if len(archives) != 1:
        raise SetupError(f"{row.package} has no source distribution that is a .tar.gz file.")
    return archives[0]
