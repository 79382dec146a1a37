"""``python tests/release WHEEL``: a wheel, tried where nothing else of ours is.

One line a check. Exit code 1 when one fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from release import checks, jupyter
from release.installation import CheckError, Installation

Check = Callable[[Installation], str]
CHECKS: tuple[Check, ...] = (
    checks.installs_from_the_index,
    checks.leaves_nothing_behind,
    checks.installs_without_the_index,
    checks.names_its_commands,
    checks.doctor_finds_no_problem,
    checks.explores_replays_and_exports,
    checks.magics_work_in_the_newest_ipython,
    checks.magics_work_in_ipython_8,
    jupyter.lists_the_extensions_as_enabled,
    jupyter.serves_the_sidebar,
    jupyter.shows_the_sidebar_in_a_browser,
    checks.leaves_nothing_behind,
)


def _passes(check: Check, installation: Installation) -> bool:
    start = time.monotonic()
    name = check.__name__.replace("_", " ")
    try:
        mark, message = "ok    ", check(installation)
    except CheckError as error:
        mark, message = "FAILED", str(error)
    print(f"{mark}  {name}: {message} ({time.monotonic() - start:.0f} s)", flush=True)  # noqa: T201
    return mark != "FAILED"


def main() -> int:
    """Run all checks; the first must pass for the others to mean anything."""
    parser = argparse.ArgumentParser(prog="python tests/release", description=__doc__)
    parser.add_argument("wheel", type=Path)
    wheel: Path = parser.parse_args().wheel.resolve()
    # Not every path is plain ASCII without spaces.
    with tempfile.TemporaryDirectory(prefix="Tee für zwei ", ignore_cleanup_errors=True) as folder:
        installation = Installation(Path(folder), wheel)
        installation.create()
        if not _passes(CHECKS[0], installation):
            return 1
        failures = [check for check in CHECKS[1:] if not _passes(check, installation)]
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
