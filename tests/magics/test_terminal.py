"""A person at IPython in a terminal: progress while it works, Ctrl-C stops it and keeps all."""

from __future__ import annotations

import sys

import pexpect
import pytest
from exploracoder.testing import Delay

from .conftest import TASK, Stage, TeaModel

IPYTHON = ["-m", "IPython", "--simple-prompt", "--no-banner", "--HistoryManager.enabled=False"]


# Newer Pythons warn of a fork beside the model's thread; the child runs another program at once.
@pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")
def test_a_terminal_waits_with_progress_and_can_be_interrupted(stage: Stage) -> None:
    stage.model.script = TeaModel(plans=[Delay(60, "{}")])
    before = len(stage.server.requests)
    child = pexpect.spawn(
        sys.executable,
        IPYTHON,
        cwd=str(stage.folder),
        encoding="utf-8",
        codec_errors="replace",  # the terminal's ^C may come in the middle of a character
        timeout=120,
        dimensions=(50, 200),
    )
    try:
        child.expect("In .*:")
        child.sendline("%load_ext exploracoder")
        child.expect("In .*:")
        child.sendline("%exploracoder resum")
        child.expect("The nearest is 'resume'")
        child.sendline(stage.configuration)
        child.expect("it holds from the next task on")
        child.sendline(f"%exploracoder --library tealeaf/ --output typed.ipynb {TASK}")
        child.expect("Reading the docs of")
        # The library's summary and a plan of its examples may be asked for before the plan.
        stage.server.wait_for_requests(before + 1, 60)
        child.sendintr()
        child.expect("Stopped")
        child.sendline("%exploracoder save")
        child.expect("saved at every step in typed.ipynb")
    finally:
        child.close(force=True)

    assert (stage.folder / "typed.ipynb").exists()
