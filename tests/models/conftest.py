"""No pauses before retries, and nothing configured."""

from __future__ import annotations

import pytest
from exploracoder.models import endpoint
from exploracoder.models.keys import PROVIDERS


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE_S", 0.01)


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = [name for one in PROVIDERS for name in one.variables]
    for name in (*variables, "OPENAI_BASE_URL", "EXPLORACODER_MODEL"):
        monkeypatch.delenv(name, raising=False)
