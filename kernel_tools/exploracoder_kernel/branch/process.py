"""Entry point of a launch's processes: a reaper, and the root branch that replaces its fork.

``PYTHON -S -s process.py reaper CONTROL_FD BRANCH_FD SETUP_FD`` runs none of the user's code, hence
without ``site``. ``PYTHON process.py branch BRANCH_FD SETUP_FD LAYERS`` is the user's Python as it
is, but confined, and already restricted by so many layers of Landlock. What SETUP_FD reads is
``Setup`` in the owner's ``launch_command.py``.

Parses in any Python (hence the types in comments), so that one that is too old can report that.
"""

import importlib
import json
import os
import struct
import sys
import types  # noqa: F401  # used in type comments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any  # noqa: F401  # used in type comments

OLDEST = (3, 9)
PRIVATE_NAME = "_exploracoder_branch"


def say_too_old(control_fd):
    # type: (int) -> None
    """Tell the owner the version, in the frame that it is waiting for."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    body = json.dumps({"too_old": version}).encode("utf-8")
    os.write(control_fd, struct.pack(">I", len(body)) + body)


def load_private(folder):
    # type: (str) -> types.ModuleType
    """Import this folder under a private name, so that it shadows no module of the user's."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        PRIVATE_NAME,
        os.path.join(folder, "__init__.py"),
        submodule_search_locations=[folder],
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PRIVATE_NAME] = package
    spec.loader.exec_module(package)
    return package


def main():
    # type: () -> None
    """Become the reaper, or the root branch."""
    role, numbers = sys.argv[1], [int(word) for word in sys.argv[2:]]
    if sys.version_info < OLDEST:
        say_too_old(numbers[0])
        sys.exit(3)
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0] or ".") == folder:
        del sys.path[0]
    load_private(folder)
    module = importlib.import_module(PRIVATE_NAME + (".reaper" if role == "reaper" else ".root"))
    if role == "branch":  # an unconfined process must find no modules in the current folder
        sys.path.insert(0, "")
    sys.argv = [""]
    module.main(*numbers)


if __name__ == "__main__":
    main()
