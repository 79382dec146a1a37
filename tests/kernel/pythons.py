"""Which Pythons there are on this machine."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = [f"3.{minor}" for minor in range(9, 16)]
SAY_VERSION = "import sys; print('%d.%d' % sys.version_info[:2], sys._base_executable)"


@functools.cache
def found() -> dict[str, str]:
    """Executables by version: those on the path, and those that pyenv keeps."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [shutil.which(f"python{version}") for version in VERSIONS]
    candidates += sorted(map(str, pyenv.glob("versions/3.*/bin/python")))
    by_version = dict[str, str]()
    for candidate in (sys.executable, *candidates):
        if candidate is not None:
            words = subprocess.run(
                [candidate, "-c", SAY_VERSION], capture_output=True, text=True, check=False
            ).stdout.split()
            if len(words) == 2 and words[0] in VERSIONS:
                by_version.setdefault(*words)
    return {version: by_version[version] for version in VERSIONS if version in by_version}
