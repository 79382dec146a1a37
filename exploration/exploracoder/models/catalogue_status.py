"""The catalogue as it stands on this machine: what is there, what is in use, and what fits."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from exploracoder.models import catalogue, hardware
from exploracoder.models.weights import ModelStatus, WeightsStore


class Offer(BaseModel):
    """A model of the catalogue, on this machine.

    ``done_bytes`` counts what lies on disk. ``missing_bytes`` is the memory that the machine does
    not have, ``occupied_bytes`` what others would have to give up just now.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    short_name: str
    title: str
    publisher: str
    license: str
    terms: str
    quality: str
    quality_source: str
    size_bytes: int
    sha256: str
    memory_bytes: int
    path: Path
    state: Literal["pulled", "unchecked", "partial", "not there"]
    is_in_use: bool
    done_bytes: int
    missing_bytes: int
    occupied_bytes: int

    @property
    def fits(self) -> bool:
        """Whether the machine has enough memory, even if other programs use it now."""
        return self.missing_bytes == 0


def offers() -> list[Offer]:
    """The catalogue's models, as they stand on this machine."""
    return [offer_of(WeightsStore(model)) for model in catalogue.CATALOGUE]


def offer_of(store: WeightsStore) -> Offer:
    """How a model stands on this machine. Its file is not read, only its size and marker."""
    model, status = store.model, store.status()
    return Offer(
        name=model.name,
        short_name=model.label,
        title=model.title,
        publisher=model.publisher,
        license=model.license,
        terms=model.terms,
        quality=model.quality,
        quality_source=model.quality_source,
        size_bytes=model.size_bytes,
        sha256=model.sha256,
        memory_bytes=model.memory_bytes,
        path=store.path,
        state=_state(status),
        is_in_use=store.is_in_use,
        done_bytes=status.size_bytes,
        missing_bytes=max(0, model.memory_bytes - hardware.total_memory_bytes()),
        occupied_bytes=max(0, model.memory_bytes - hardware.available_memory_bytes()),
    )


def _state(status: ModelStatus) -> Literal["pulled", "unchecked", "partial", "not there"]:
    if status.is_verified:
        return "pulled"
    if status.is_present:
        return "unchecked"
    return "partial" if status.size_bytes else "not there"
