"""A benchmark as an ordinary user, for whoever is the superuser: some holes are only theirs."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
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
    missing = [name for name in ("setpriv", "unshare") if shutil.which(name) is None]
    if os.geteuid() != 0 or missing:
        print("--user is for the superuser, and needs setpriv and unshare.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="nobody-") as name:
        folder = Path(name)
        home = folder / "home"
        home.mkdir()
        for path in (folder, home):
            os.chown(path, _NOBODY, _NOBODY)
        rights = ("--reuid", str(_NOBODY), "--regid", str(_NOBODY), "--clear-groups")
        rest = [word for word in arguments if word != "--user"]
        command = ["setpriv", *rights, sys.executable, "-m", module, *rest]
        script = f"{_show_python(folder / 'python')} exec {shlex.join(command)}"
        places = {"HOME": str(home), "TMPDIR": name, "PYTHONDONTWRITEBYTECODE": "1"}
        isolated = ["unshare", "--mount", "--propagation", "private", "sh", "-e", "-c", script]
        ended = subprocess.run(isolated, env={**os.environ, **places}, cwd=home, check=False)
    return ended.returncode


def _show_python(held: Path) -> str:
    """Commands that put the interpreter in sight, where it lies in a home that nobody may enter.

    They are for a mount namespace: nothing changes for anybody else.
    """
    prefix = Path(sys.base_prefix)
    closed = [path for path in reversed(prefix.parents) if not path.stat().st_mode & stat.S_IXOTH]
    if not closed:
        return ""
    held.mkdir()
    there, home, hold = (shlex.quote(str(path)) for path in (prefix, closed[0], held))
    return (
        f"mount --bind {there} {hold}; mount -t tmpfs -o mode=755 none {home}; "
        f"mkdir -p {there}; mount --move {hold} {there};"
    )
