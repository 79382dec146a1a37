"""The configuration of all explorations of a kernel: model, mode, libraries, settings."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from typing import Any, Literal, cast

from exploracoder.commands import Mode
from exploracoder.effort import find_effort
from exploracoder.errors import InputError
from exploracoder.settings import PROFILES, Settings
from exploracoder.workspace import Options

from exploracoder_jupyter.magics.page_blocks import Line, Page, Table
from exploracoder_jupyter.magics.registry import nearest

_YES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_TEXTS = (
    "base_url",
    "reasoning_effort",
    "profile",
    "method",
    "python",
    "sandbox",
    "strategy",
    "chroma_url",
    "embeddings_url",
    "embeddings_model",
)
OWN_NAMES = ("model", "mode", "wait", "widgets", "cache", "seed", *_TEXTS)
# ``auto`` uses them once the front end is known to draw them.
Widgets = Literal["auto", "on", "off"]
_SETTINGS = tuple(name for name in Settings.model_fields if name != "profile")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The choices made with ``%exploracoder config`` and ``use``."""

    libraries: tuple[str, ...] = ()
    model: str | None = None
    mode: Mode = "auto"
    wait: bool = False
    widgets: Widgets = "auto"
    options: Options = field(default_factory=Options)

    def changed(self, assignment: str) -> Configuration:
        """The configuration after ``NAME=VALUE``; an empty value restores the default.

        Raises InputError for an unknown name or an invalid value.
        """
        key, equals, value = assignment.partition("=")
        name = key.strip().replace("-", "_")
        if not equals:
            raise InputError(f"config takes NAME=VALUE, without blanks, not {assignment!r}.")
        if name in ("model", "mode", "wait", "widgets"):
            return replace(self, **{name: _own_value(name, value)})
        if name in OWN_NAMES:
            return replace(self, options=replace(self.options, **{name: _option(name, value)}))
        if name in _SETTINGS:
            return replace(
                self, options=replace(self.options, settings=self._settings(name, value))
            )
        near = nearest(name, (*OWN_NAMES, *_SETTINGS), cutoff=0.0)
        raise InputError(f"There is nothing called {name!r} to configure. The nearest is {near!r}.")

    def page(self) -> Page:
        """The current values, and the names of the other settings."""
        now = {"model": self.model or "", "mode": self.mode, "wait": str(self.wait)}
        now["widgets"] = self.widgets
        now |= {
            one.name: str(getattr(self.options, one.name) or "")
            for one in fields(self.options)
            if one.name in OWN_NAMES
        }
        now |= {name: str(value) for name, value in self.options.settings.items()}
        libraries = ("libraries", ", ".join(self.libraries))
        rows = (libraries, *((name, value) for name, value in now.items()))
        others = ", ".join(name for name in _SETTINGS if name not in self.options.settings)
        return Page(
            (
                Table(tuple((name, value or "default") for name, value in rows)),
                Line(f"Settings that can be given too: {others}", "dim"),
                Line("→ %exploracoder config NAME=VALUE; it holds from the next task on"),
            )
        )

    def _settings(self, name: str, value: str) -> dict[str, object]:
        others = {key: old for key, old in self.options.settings.items() if key != name}
        if not value:
            return others
        settings: dict[str, Any] = others | {name: value}
        try:
            Settings.model_validate(PROFILES["standard"].model_dump() | settings)
        except ValueError as error:
            raise InputError(f"{name} cannot be {value!r}: {_first_line(error)}") from error
        return settings


def _own_value(name: str, value: str) -> Any:
    if name == "model":
        return value or None
    if name == "wait":
        return _truth(name, value)
    if name == "widgets":
        return _widgets(value)
    if value not in ("", "auto", "review"):
        raise InputError(f"mode is auto or review, not {value!r}.")
    return cast(Mode, value or "auto")


def has_ipywidgets() -> bool:
    """Whether ipywidgets is installed, without which there are no widgets."""
    return find_spec("ipywidgets") is not None


def _widgets(value: str) -> Widgets:
    if value not in ("", "auto", "on", "off"):
        raise InputError(f"widgets is auto, on or off, not {value!r}.")
    if value == "on" and not has_ipywidgets():
        raise InputError(
            "Widgets need ipywidgets in this kernel's environment, and the kernel restarted then:"
            " pip install 'exploracoder[widgets]'"
        )
    return cast(Widgets, value or "auto")


def _option(name: str, value: str) -> Any:
    if name == "cache":
        return _truth(name, value)
    if name == "seed":
        try:
            return int(value or 0)
        except ValueError:
            raise InputError(f"seed is a whole number, not {value!r}.") from None
    if name == "profile" and value and value not in PROFILES:
        raise InputError(f"profile is one of {', '.join(PROFILES)}, not {value!r}.")
    default: Any = {one.name: one.default for one in fields(Options)}[name]
    values: dict[str, Any] = {name: value or default}
    options = replace(Options(), **values)
    # These raise an error for a value that does not exist.
    _ = options.sandbox_level, options.branching, find_effort(options.reasoning_effort)
    return getattr(options, name)


def _truth(name: str, value: str) -> bool:
    if value.lower() not in ("", *_YES):
        raise InputError(f"{name} is true or false, not {value!r}.")
    return _YES.get(value.lower(), False)


def _first_line(error: ValueError) -> str:
    errors = getattr(error, "errors", None)
    return str(errors()[0]["msg"]) if callable(errors) else str(error)
