"""A benchmark as an ordinary user, for whoever is the superuser: some holes are only theirs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_NOBODY = 65534


def run(module: str, arguments: Sequence[str]) -> int:
    """Run a module of ours as nobody, with a home and a folder for temporary files of its own.

    Args:
        module: What ``python -m`` takes.
        arguments: Its own, without ``--user``.
    """
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        print("--user is for the superuser, and needs setpriv (util-linux).", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="nobody-") as name:
        folder = Path(name)
        os.chown(folder, _NOBODY, _NOBODY)
        rights = ("--reuid", str(_NOBODY), "--regid", str(_NOBODY), "--clear-groups")
        rest = [word for word in arguments if word != "--user"]
        command = [setpriv, *rights, sys.executable, "-m", module, *rest]
        places = {"HOME": name, "TMPDIR": name, "PYTHONDONTWRITEBYTECODE": "1"}
        ended = subprocess.run(command, env={**os.environ, **places}, cwd=folder, check=False)
    return ended.returncode
