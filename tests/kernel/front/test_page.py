"""The examples of the page about the sidecar print what they should."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from exploracoder_kernel.kernel import spec

PAGE = Path(__file__).parents[3] / "docs" / "sidecar.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
PRINTED = [
    "['[1, 2, 3]', '[2, 1, 3]']\n[3, 1, 2]\n",
    "2\nb0  1\nb1 double it 2\n",
]


@pytest.mark.parametrize(("code", "printed"), list(zip(EXAMPLES, PRINTED, strict=True)))
def test_an_example_runs_as_it_stands(
    code: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec.install(prefix=tmp_path)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share" / "jupyter"))

    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert process.stdout == printed, process.stderr
