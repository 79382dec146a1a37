"""What a server's explorations share, and what each of them is made with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from exploracoder import prepare
from exploracoder.errors import InputError, SetupError
from exploracoder.models.chat import ChatModel
from exploracoder.models.discovery import find_servers, is_plain_loopback
from exploracoder.models.keys import key_in_environment
from exploracoder.models.lazy_model import LazyModel
from exploracoder.models.model_choice import HOSTED_URL, ModelChoice, key_for, origin_of
from exploracoder.models.weights import WeightsStore
from exploracoder.settings import PROFILES, Settings, make_settings
from exploracoder.suitable_profile import Fit
from exploracoder.user_variables import Source
from exploracoder_kernel.kernel.start_options import StartOptions
from exploracoder_kernel.sandbox import LevelChoice
from exploracoder_kernel.strategies import StrategyChoice

from exploracoder_jupyter.eventlog import EventLog
from exploracoder_jupyter.journal import Journal
from exploracoder_jupyter.protocol import CellOrigin
from exploracoder_jupyter.pythons import Pythons
from exploracoder_jupyter.server_index import ServerIndex
from exploracoder_jupyter.services import Services
from exploracoder_jupyter.source_lookups import Lookups
from exploracoder_jupyter.weights_download import WeightsDownload

if TYPE_CHECKING:
    from exploracoder_retrieval.harvest.target import Target


_CONFIGURED = ModelChoice()
_SHOWN_MODELS = 10


@dataclass(frozen=True, slots=True)
class Choices:
    """The server's configuration; empty strings defer to the environment."""

    model: str = ""
    base_url: str = ""
    key_variables: Mapping[str, str] = field(default_factory=dict)
    local_servers: Mapping[str, str] = field(default_factory=dict)
    reasoning_effort: str = ""
    cache: bool = False
    profile: str = ""
    sandbox: LevelChoice = "auto"
    strategy: StrategyChoice = "auto"
    max_open: int = 8

    @property
    def is_embedded(self) -> bool:
        """Whether the embedded model is configured, explicitly or because nothing else is."""
        return prepare.wants_embedded(self.model or None, self.base_url or None)

    @property
    def default_profile(self) -> str:
        """The default profile of a new exploration with the configured model."""
        return self.profile or self._fit().profile

    def _fit(self, choice: ModelChoice = _CONFIGURED) -> Fit:
        """The profile and settings that suit a model, from what is recorded about it."""
        own = None if choice.name else self.base_url or None
        return prepare.fit_of(
            choice.name or self.model or None,
            choice.base_url or own,
            self.reasoning_effort or None,
        )

    def model_name(self, choice: ModelChoice = _CONFIGURED) -> str:
        """The name of the model to ask; empty when an endpoint is configured but no model."""
        if choice.is_embedded or (not choice.name and self.is_embedded):
            return WeightsStore().model.name
        return choice.name or self.model or os.environ.get("EXPLORACODER_MODEL", "")

    @property
    def model_url(self) -> str:
        """The configured endpoint."""
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or HOSTED_URL

    def model_trouble(self, choice: ModelChoice = _CONFIGURED) -> str:
        """Why a model cannot be asked, and what to do; empty if nothing is known to be missing."""
        if choice.base_url:
            return ""
        if choice.is_embedded or self.is_embedded:
            if WeightsStore().is_verified:
                return ""
            return (
                "The embedded model is not there. Fetch it once, here or with `exploracoder model"
                " pull`, or choose another one."
            )
        if not self.model_name():
            return (
                "An endpoint is configured, but no model. Name one with c.ExploraCoder.model or"
                " EXPLORACODER_MODEL."
            )
        return ""

    def open_model(
        self, choice: ModelChoice = _CONFIGURED
    ) -> AbstractAsyncContextManager[ChatModel]:
        """Open a client of the chosen model, or of the configured one."""
        base_url = self.base_url or None
        return prepare.open_model(
            choice.name or self.model or None,
            choice.base_url or (None if choice.name else base_url),
            api_key=self.key_for_server(choice.base_url or self.model_url),
            cache=self.cache,
            reasoning_effort=self.reasoning_effort or None,
        )

    async def look_for(self, choice: ModelChoice) -> None:
        """Raise SetupError when a server on this machine does not have the chosen model.

        Remote servers are not contacted here, only when there is a question for them.
        """
        if not is_plain_loopback(choice.base_url):
            return
        servers = await find_servers({"": choice.base_url})
        if not servers:
            raise SetupError(f"No model server answers at {choice.base_url}. Start it again.")
        models = servers[0].models
        # Ollama lists models with their tags, but accepts a name without one.
        if not {choice.name, f"{choice.name}:latest"} & set(models):
            listing = ", ".join(models[:_SHOWN_MODELS])
            raise SetupError(
                f"The server at {choice.base_url} does not have the model {choice.name!r} any more."
                f" It has: {listing}."
            )

    def key_for_server(self, base_url: str) -> str:
        """The key in the environment; ``OPENAI_API_KEY`` is for the configured server alone."""
        keys = {url: os.environ.get(name, "") for url, name in self.key_variables.items()}
        environment = dict(os.environ, OPENAI_BASE_URL=self.model_url)
        if origin_of(base_url) != origin_of(self.model_url):
            environment.pop("OPENAI_API_KEY", None)
        return key_for(base_url, keys) or key_in_environment(base_url, environment)

    def settings(
        self, profile: str | None, overrides: dict[str, object], choice: ModelChoice = _CONFIGURED
    ) -> Settings:
        """The settings of a new exploration. Raises InputError when they cannot be used."""
        unknown = sorted(set(overrides) - (set(Settings.model_fields) - {"profile"}))
        if unknown:
            raise InputError(f"There is no setting {unknown[0]!r}.")
        forced_profile, fit = profile or self.profile, self._fit(choice)
        name = forced_profile or fit.profile
        if name not in PROFILES:
            raise InputError(f"There is no profile {name!r}. Profiles: {', '.join(PROFILES)}.")
        return make_settings(
            name, **(overrides if forced_profile else {**fit.settings, **overrides})
        )


@dataclass(frozen=True, slots=True)
class Workshop:
    """The tools that all explorations of a server share."""

    services: Services
    choices: Choices
    events: EventLog
    journal: Journal
    pythons: Pythons
    index: ServerIndex
    lookups: Lookups
    download: WeightsDownload

    def model(self, choice: ModelChoice) -> LazyModel:
        """Make the model client of one exploration."""
        choices = self.choices
        return LazyModel(choices.model_name(choice), lambda: choices.open_model(choice))

    def check_model(self, choice: ModelChoice) -> None:
        """Raise SetupError when it is known that a model cannot be asked."""
        trouble = self.choices.model_trouble(choice)
        if trouble:
            raise SetupError(trouble)

    def wishes(self, python: str, targets: list[Target]) -> StartOptions:
        """The options to start an exploration's kernel with."""
        options: dict[str, object] = {
            "sandbox": self.choices.sandbox,
            "strategy": self.choices.strategy,
        }
        if python:
            options["python"] = python
        own = [one for one in targets if one.home is not None]
        if own and not self.services.is_remote:
            options["readable"] = tuple(str(one.root) for one in own)
            options["import_paths"] = tuple(dict.fromkeys(str(one.home) for one in own))
        return StartOptions.model_validate(options)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one exploration is made with, besides its own state.

    Attributes:
        python: The interpreter that its code runs in.
        wishes: How its kernel is started.
        kernel_name: The user's kernelspec.
        source: The running kernel to bring variables from.
        source_path: The notebook that it was started from, which has that kernel; empty for none.
        origin: The cell that it began in.
    """

    python: str
    wishes: StartOptions
    kernel_name: str | None = None
    source: Source | None = None
    source_path: str = ""
    origin: CellOrigin | None = None


def journal_folder(folder: str) -> Path:
    """The journal's folder: the configured one, or a default in Jupyter's data folder."""
    from jupyter_core.paths import jupyter_data_dir

    usual = Path(jupyter_data_dir()) / "exploracoder" / "explorations"
    return Path(os.path.expanduser(folder)) if folder else usual
