"""What the kernel says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from jupyter_client._version import protocol_version

from exploracoder_kernel.kernel.contents import Content
from exploracoder_kernel.sandbox import Sandboxing
from exploracoder_kernel.sidecar import Sidecar


@dataclass(frozen=True, slots=True)
class About:
    """How the kernel was started: the interpreter of its cells, and what keeps them in."""

    python: str
    sandboxing: Sandboxing

    def sandbox(self) -> Content:
        """What keeps cells in, for a list of branches."""
        chosen = self.sandboxing
        return {"level": chosen.level, "mechanism": chosen.mechanism, "reason": chosen.reason}

    def kernel_info(self, sidecar: Sidecar) -> Content:
        """For front ends: the language is that of the branches' Python, not of ours."""
        return {
            "protocol_version": protocol_version,
            "implementation": "exploracoder",
            "implementation_version": _own_version(),
            "language_info": {
                "name": "python",
                "version": sidecar.python_version,
                "mimetype": "text/x-python",
                "codemirror_mode": {"name": "ipython", "version": 3},
                "pygments_lexer": "ipython3",
                "nbconvert_exporter": "python",
                "file_extension": ".py",
            },
            "banner": self._banner(sidecar),
            "help_links": [],
            "debugger": False,
            "supported_features": [],
        }

    def _banner(self, sidecar: Sidecar) -> str:
        """What a console shows first: how branches are made and how they are kept in, and why."""
        lines = (
            f"ExploraCoder {_own_version()}: a kernel whose state branches.",
            f"Python {sidecar.python_version} ({self.python})",
            f"Branches by {sidecar.strategy}: {sidecar.strategy_reason}.",
            f"Sandbox {self.sandboxing}: {self.sandboxing.reason}",
        )
        return "\n".join(lines) + "\n"


def _own_version() -> str:
    """The version of this package; ``0`` when it runs without being installed."""
    try:
        return version("exploracoder")
    except PackageNotFoundError:
        return "0"
