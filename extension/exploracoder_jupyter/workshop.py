"""What the explorations of a server share, and what each of them is made with."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder.bringing import Source
from exploracoder.config import PROFILES, Settings, make_settings
from exploracoder.errors import InputError, SetupError
from exploracoder.models.chat import ChatModel
from exploracoder_kernel.kernel.start_options import StartOptions
from exploracoder_kernel.sandbox import LevelChoice
from exploracoder_kernel.strategies import StrategyChoice

from exploracoder_jupyter.eventlog import EventLog
from exploracoder_jupyter.journal import Journal
from exploracoder_jupyter.lookups import Lookups
from exploracoder_jupyter.models import LazyModel
from exploracoder_jupyter.protocol import CellOrigin
from exploracoder_jupyter.pythons import Pythons
from exploracoder_jupyter.services import Services
from exploracoder_jupyter.shelves import Shelves

if TYPE_CHECKING:
    from exploracoder_retrieval.harvest.target import Target


@dataclass(frozen=True, slots=True)
class Choices:
    """What the server's configuration says; empty texts leave it to the environment."""

    model: str = ""
    base_url: str = ""
    reasoning_effort: str = ""
    cache: bool = False
    profile: str = ""
    sandbox: LevelChoice = "auto"
    strategy: StrategyChoice = "auto"
    max_open: int = 8

    @property
    def is_embedded(self) -> bool:
        """Whether the embedded model is meant."""
        from exploracoder import prepare

        return prepare.wants_embedded(self.model or None, self.base_url or None)

    @property
    def default_profile(self) -> str:
        """The profile of a new exploration that names none."""
        return self.profile or ("small" if self.is_embedded else "standard")

    @property
    def model_name(self) -> str:
        """The model that is asked; empty when an endpoint is configured and no model."""
        if self.is_embedded:
            from exploracoder.models.weights import WeightsStore

            return WeightsStore().model.name
        import os

        return self.model or os.environ.get("EXPLORACODER_MODEL", "")

    def model_trouble(self) -> str:
        """Why no model can be asked, and what to do; empty when nothing is known to be missing."""
        if self.is_embedded:
            from exploracoder.models.weights import WeightsStore

            if WeightsStore().is_verified:
                return ""
            return (
                "The embedded model is not there. Fetch it once with `exploracoder model pull`, or"
                " configure another one: c.ExploraCoder.base_url and c.ExploraCoder.model."
            )
        if not self.model_name:
            return (
                "An endpoint is configured, but no model. Name one with c.ExploraCoder.model or"
                " EXPLORACODER_MODEL."
            )
        return ""

    def open_model(self) -> AbstractAsyncContextManager[ChatModel]:
        """A client of the model."""
        from exploracoder import prepare

        return prepare.open_model(
            self.model or None,
            self.base_url or None,
            cache=self.cache,
            reasoning_effort=self.reasoning_effort or None,
        )

    def settings(self, profile: str | None, given: dict[str, object]) -> Settings:
        """The settings of a new exploration. Raises InputError when they cannot be used."""
        unknown = sorted(set(given) - (set(Settings.model_fields) - {"profile"}))
        if unknown:
            raise InputError(f"There is no setting {unknown[0]!r}.")
        name = profile or self.default_profile
        if name not in PROFILES:
            raise InputError(f"There is no profile {name!r}. Profiles: {', '.join(PROFILES)}.")
        return make_settings(name, **given)


@dataclass(frozen=True, slots=True)
class Workshop:
    """The tools that all explorations of a server share."""

    services: Services
    choices: Choices
    events: EventLog
    journal: Journal
    pythons: Pythons
    shelves: Shelves
    lookups: Lookups

    def model(self) -> LazyModel:
        """A client for one exploration."""
        return LazyModel(self.choices.model_name, self.choices.open_model)

    def check_model(self) -> None:
        """Raise SetupError when it is known that no model can be asked."""
        trouble = self.choices.model_trouble()
        if trouble:
            raise SetupError(trouble)

    def wishes(self, python: str, targets: list[Target]) -> StartOptions:
        """How the kernel of an exploration is to be started."""
        wanted: dict[str, object] = {
            "sandbox": self.choices.sandbox,
            "strategy": self.choices.strategy,
        }
        if python:
            wanted["python"] = python
        own = [one for one in targets if one.home is not None]
        if own and not self.services.is_remote:
            wanted["readable"] = tuple(str(one.root) for one in own)
            wanted["import_paths"] = tuple(dict.fromkeys(str(one.home) for one in own))
        return StartOptions.model_validate(wanted)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one exploration is made with, besides its own state.

    Attributes:
        python: The interpreter that its code runs in.
        wishes: How its kernel is started.
        kernel_name: The user's kernelspec.
        source: The running kernel whose variables come along.
        source_path: The notebook that has that kernel.
        origin: The cell that it began in.
    """

    python: str
    wishes: StartOptions
    kernel_name: str | None = None
    source: Source | None = None
    source_path: str = ""
    origin: CellOrigin | None = None


def journal_folder(configured: str) -> Path:
    """Where the journal lies."""
    from jupyter_core.paths import jupyter_data_dir

    usual = Path(jupyter_data_dir()) / "exploracoder" / "explorations"
    return Path(configured).expanduser() if configured else usual
