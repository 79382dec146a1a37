"""Code that Python runs as it starts, in the sandbox, before anything of ours does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel import memory_file
from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.sidecar import Sidecar

from .conftest import Choose

KEEP_ALL = """\
import os

kept = {}
for name in os.listdir("/proc/self/fd"):
    try:
        kept[os.dup(int(name))] = os.readlink("/proc/self/fd/" + name)
    except OSError:
        pass
"""
WRITE_TO_ALL = """\
import os
import sitecustomize

files = {fd: place for fd, place in sitecustomize.kept.items() if "(deleted)" in place}
changed_files = []
for fd in files:
    for again in (lambda: fd, lambda: os.open(f"/proc/self/fd/{fd}", os.O_WRONLY)):
        try:
            os.write(again(), b"x")
            changed_files.append(files[fd])
        except OSError:
            pass
len(files), changed_files
"""


@pytest.fixture(params=["in memory", "on disk"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where files are handed over that have no name: some Pythons can't have them in memory."""
    if request.param == "on disk":
        monkeypatch.delattr(os, "memfd_create")
    return str(request.param)


@pytest.mark.usefixtures("where")
async def test_the_files_that_a_process_is_started_with_cannot_be_changed(
    boxed: Choose, task: Path, value_of: Callable[..., Any]
) -> None:
    (task / "startup").mkdir()
    (task / "startup" / "sitecustomize.py").write_text(KEEP_ALL)
    environment = {**os.environ, "PYTHONPATH": str(task / "startup")}
    launcher = boxed().launcher

    async with Sidecar(sys.executable, task, launcher=launcher, env=environment) as sidecar:
        count, changed_files = value_of(await sidecar.run(sidecar.root, WRITE_TO_ALL))

    assert count >= 1
    assert changed_files == []


@pytest.mark.usefixtures("where")
def test_a_file_is_read_by_whoever_has_it_and_written_once() -> None:
    descriptor = memory_file.create()
    try:
        memory_file.fill(descriptor, b"all of it")

        assert os.pread(descriptor, 100, 0) == b"all of it"
        assert not os.get_inheritable(descriptor)
        with pytest.raises(OSError, match=r"not permitted|Bad file descriptor"):
            os.write(descriptor, b"more")
    finally:
        os.close(descriptor)


def test_where_there_is_no_room_for_a_file_it_says_so() -> None:
    descriptor = os.open("/dev/full", os.O_RDWR)
    try:
        with pytest.raises(SidecarError, match=r"No space left on device\. Free some space"):
            memory_file.fill(descriptor, b"all of it")
    finally:
        os.close(descriptor)
