"""The user's agreement to run snippets without a sandbox: asked for once, and remembered."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from platformdirs import user_config_path

QUESTION = (
    "Snippets that a model wrote would run as you, with your files and your network."
    " Go on without a sandbox, now and from now on?"
)


def _usual_file() -> Path:
    override = os.environ.get("EXPLORACODER_CONFIG")
    folder = Path(os.path.expanduser(override)) if override else user_config_path("exploracoder")
    return folder / "consent.json"


@dataclass(frozen=True, slots=True)
class Consent:
    """The remembered agreement, in a file of the user's configuration."""

    file: Path = field(default_factory=_usual_file)

    def is_given(self) -> bool:
        """Whether the user agreed. A file that can't be read is no agreement."""
        try:
            content = json.loads(self.file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(content, dict) and content.get("runs_without_sandbox") is True

    def give(self) -> None:
        """Remember that the user agrees.

        Raises:
            OSError: It can't be written.
        """
        when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        text = json.dumps({"runs_without_sandbox": True, "agreed_at": when}, indent=2)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(text + "\n", encoding="utf-8")

    def take_back(self) -> None:
        """Withdraw the agreement.

        Raises:
            OSError: It can't be removed.
        """
        with contextlib.suppress(FileNotFoundError):
            self.file.unlink()
