"""Run a command that ends with the process that started it, however that one ends.

Run by its path, with the standard library alone: ``python leash.py FD COMMAND…``. Only the harness
holds the other end of the pipe FD; when it is closed, the command's process group is killed. So a
killed harness leaves nothing behind that still asks the model or writes into its folder.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


def main() -> int:
    """The command's exit code, as a shell gives it."""
    read_end = int(sys.argv[1])
    process: subprocess.Popen[bytes] | None = None
    early_signals: list[int] = []

    def pass_on(number: int, _: object) -> None:
        if process is None:
            early_signals.append(number)
        else:
            process.send_signal(number)

    # Before the command is there: what ends this process in between would orphan the command. Not
    # SIG_IGN, which the command would inherit.
    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGINT, lambda *_: None)
    process = subprocess.Popen(sys.argv[2:], start_new_session=True)
    group = process.pid
    for number in early_signals:
        process.send_signal(number)

    def wait_for_the_end() -> None:
        while os.read(read_end, 1):
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
