"""``%exploracoder`` in any IPython: loaded by ``%load_ext exploracoder``.

Loading registers names and nothing else; the rest is imported when a magic is first used.
"""

from __future__ import annotations

from typing import Any

from exploracoder_jupyter.magics.magic_names import NAME, TRY_NAME


def load(shell: Any) -> None:
    """Register the magics and their completion with a shell. Loading again changes nothing."""
    from exploracoder_jupyter.magics.entry import Entry

    if _entry_of(shell) is not None:
        return
    entry = Entry(shell)
    shell.register_magic_function(entry.run, magic_kind="line_cell", magic_name=NAME)
    shell.register_magic_function(entry.run_try, magic_kind="cell", magic_name=TRY_NAME)
    for word in (f"%{NAME}", f"%%{NAME}"):
        shell.set_hook("complete_command", entry.complete, str_key=word)


def unload(shell: Any) -> None:
    """Unregister the magics, and close what they have open."""
    entry = _entry_of(shell)
    if entry is None:
        return
    entry.close()
    magics = shell.magics_manager.magics
    magics["line"].pop(NAME, None)
    for name in (NAME, TRY_NAME):
        magics["cell"].pop(name, None)


def _entry_of(shell: Any) -> Any:
    """The owner of the registered magic; None if there is none or it is a plain function."""
    magic = shell.magics_manager.magics["line"].get(NAME)
    return getattr(magic, "__self__", None)
