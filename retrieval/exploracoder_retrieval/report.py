"""What an update of the index changed."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from exploracoder_retrieval.tables import Tables


class IndexReport(BaseModel):
    """What an update changed, in APIs, and how long it took."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    added: int
    unchanged: int
    removed: int
    seconds: float

    @classmethod
    def of(cls, new: Tables, old: Tables | None, seconds: float) -> IndexReport:
        """By the tables of the generations before and after."""
        if old is None:
            return cls(added=len(new.contents), unchanged=0, removed=0, seconds=seconds)
        return cls(
            added=old.contents.lacks(new.contents),
            unchanged=new.contents.shares(old.contents),
            removed=new.paths.lacks(old.paths),
            seconds=seconds,
        )
