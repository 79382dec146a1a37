"""Draw a tree of branches."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exploracoder.cli.console import printable, text_console

if TYPE_CHECKING:
    from exploracoder_kernel.sidecar_answers import BranchInfo
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from exploracoder.cli.running_kernels import KernelTree

_FILE_WIDTH = 240
_STATE_STYLES = {"busy": "bold yellow", "dead": "red", "dormant": "dim"}


def tree_console() -> Console:
    """A console on standard output; wide outside a terminal, to keep a branch on one line."""
    return text_console(width=None if sys.stdout.isatty() else _FILE_WIDTH)


def draw(kernel: KernelTree) -> Tree:
    """Draw a kernel's tree, with a description of the kernel at the top."""
    from rich.text import Text

    sandbox = str(kernel.sandbox.get("level", "unknown"))
    mechanism = kernel.sandbox.get("mechanism", "none")
    how = f"{sandbox} ({mechanism})" if mechanism not in ("none", "") else sandbox
    head = Text(f"{printable(kernel.kernel)}\n", "bold")
    head.append(
        f"Python {printable(kernel.python_version)} · sandbox {printable(how)} ·"
        f" branches by {printable(kernel.strategy)}: {printable(kernel.strategy_reason)}",
        "dim",
    )
    return draw_branches(kernel.branches, current=kernel.current, head=head)


def draw_branches(branches: Sequence[BranchInfo], *, current: str, head: Text) -> Tree:
    """Draw branches below ``head``; one whose parent is gone goes to the top level."""
    from rich.tree import Tree

    top = Tree(head, guide_style="dim")
    trees: dict[str, Tree] = {}
    for branch in branches:
        place = trees.get(branch.parent or "", top)
        trees[branch.id] = place.add(_line(branch, is_current=branch.id == current))
    return top


def _line(branch: BranchInfo, *, is_current: bool) -> Text:
    from rich.text import Text

    line = Text(branch.id, "bold reverse" if is_current else "bold")
    if branch.goal:
        line.append(f"  {_one_line(branch.goal)}")
    line.append(f"  {branch.cells} {'cell' if branch.cells == 1 else 'cells'}")
    line.append("  ")
    line.append(branch.state, _STATE_STYLES.get(branch.state, "green"))
    line.append(f"  {branch.created}", "dim")
    if branch.own_bytes is not None:
        line.append(f"  own {_size(branch.own_bytes)}", "cyan")
    if branch.shared_bytes is not None:
        line.append(f", shared {_size(branch.shared_bytes)}", "cyan")
    if is_current:
        line.append("  ← current", "bold")
    if branch.note:
        line.append(f"\n{_one_line(branch.note)}", "dim")
    return line


def _one_line(text: str) -> str:
    words = " ".join(printable(text).split())
    return words if len(words) <= 100 else words[:99] + "…"


def _size(size: int) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size / 1e3:.0f} kB"
