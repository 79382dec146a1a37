"""Entry of the branch process: ``PYTHON process.py CONTROL_FD BRANCH_FD SETUP [--supervise]``.

SETUP is JSON: what ``Setup`` of the owner's ``launcher.py`` says, with the folders.

Parses in any Python (hence the types in comments), so that one that is too old can say so.
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
    """Tell the owner the version, in the frame that it waits for."""
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


def confine(setup):
    # type: (dict[str, Any]) -> None
    """Take this process its freedom, for good, before any code of the user's runs."""

    def module(name):
        # type: (str) -> Any
        return importlib.import_module(PRIVATE_NAME + "." + name)

    if setup.get("has_own_folder"):
        module("workfolder").enter(setup["task"], setup["scratch"])
    if setup.get("limits"):
        module("rlimits").apply(setup["limits"])
    if setup.get("landlock"):
        module("landlock").restrict(setup["landlock"])
    if setup.get("no_sockets"):
        module("calls").refuse(setup["no_sockets"])
        module("capabilities").drop()


def main():
    # type: () -> None
    """Confine this process, and start the keeper, which starts the root branch."""
    control_fd, branch_fd = int(sys.argv[1]), int(sys.argv[2])
    if sys.version_info < OLDEST:
        say_too_old(control_fd)
        sys.exit(3)
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0] or ".") == folder:
        del sys.path[0]
    load_private(folder)
    setup = json.loads(sys.argv[3])
    is_supervised = "--supervise" in sys.argv[4:]
    confine(setup)
    keeper = importlib.import_module(PRIVATE_NAME + ".keeper")
    sys.path.insert(0, "")
    sys.argv = [""]
    keeper.main(control_fd, branch_fd, setup["scratch"], is_supervised)


if __name__ == "__main__":
    main()
