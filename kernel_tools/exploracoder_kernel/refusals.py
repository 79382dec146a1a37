"""What a sandbox kept a snippet from, in a sentence for the user: as far as its error says so."""

from __future__ import annotations

import re

_NO_NETWORK = (
    r"Errno (101|110|113|-2|-3|-5)\b|Network is unreachable|[Nn]ame resolution"
    r"|Name or service not known|Could not resolve host|urlopen error|HTTPS?Connection|ConnectError"
)
# The first that is found in the error is said.
_KINDS: tuple[tuple[str, str], ...] = (
    (r"Errno 30\b|Read-only file system", "The sandbox lets nothing of yours be changed."),
    (r"Errno 28\b|No space left", "The sandbox bounds how much a snippet may write."),
    (
        r"Errno 13\b|Permission denied",
        "The sandbox allows neither to read what it hides, nor to write outside the snippet's own"
        " folder, nor sockets of this machine.",
    ),
    (
        r"Errno (1|38)\b|Operation not permitted|Function not implemented",
        "The sandbox refuses this system call.",
    ),
)


def sentence(ename: str, evalue: str, *, has_network: bool) -> str:
    """What to say besides an error; empty when the sandbox has nothing to do with it."""
    text = f"{ename}: {evalue}"
    if not has_network and re.search(_NO_NETWORK, text):
        return "The sandbox has no network."
    return next((said for pattern, said in _KINDS if re.search(pattern, text)), "")
