"""What the sandbox kept a snippet from is said with the snippet's error."""

from __future__ import annotations

import pytest

from .conftest import Look


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import urllib.request\nurllib.request.urlopen('http://192.0.2.1/')", "has no network"),
        ("open('/etc/new', 'w')", "sandbox"),
        ("import socket\nsocket.socket(socket.AF_UNIX)", "nor sockets of this machine"),
        ("import os\nos.setns(0) if hasattr(os, 'setns') else os.chroot('/')", "system call"),
    ],
)
async def test_an_error_that_the_sandbox_caused_says_so(look: Look, code: str, said: str) -> None:
    observation = await look(code)

    assert observation.error is not None
    assert said in observation.error.evalue


async def test_other_errors_stay_as_they_are(look: Look) -> None:
    observation = await look("1 / 0")

    assert observation.error is not None
    assert observation.error.evalue == "division by zero"
