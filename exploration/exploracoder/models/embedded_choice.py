"""Which model of the catalogue is the embedded one; stored beside the files, for all processes."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from exploracoder.errors import InputError
from exploracoder.models.catalogue import DEFAULT, ModelFile, model_named


class _SavedChoice(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str


def chosen_model(folder: Path) -> ModelFile:
    """The model chosen in ``folder``, or the default one if none was chosen.

    A choice that is damaged, or names a model that this version does not know, counts as none.
    """
    try:
        choice = _SavedChoice.model_validate_json(_file(folder).read_text(encoding="utf-8"))
        return model_named(choice.model)
    except (OSError, ValueError, ValidationError, InputError):
        return DEFAULT


def choose_model(folder: Path, model: ModelFile) -> None:
    """Make ``model`` the one in use. Raises OSError."""
    draft = _file(folder).with_suffix(".draft")
    draft.write_text(_SavedChoice(model=model.name).model_dump_json(), encoding="utf-8")
    draft.replace(_file(folder))


def _file(folder: Path) -> Path:
    return folder / "chosen.json"
