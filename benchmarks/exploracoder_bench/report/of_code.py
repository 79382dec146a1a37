"""Require runs of the same code: others can differ by more than their methods."""

from __future__ import annotations

from collections.abc import Sequence

from exploracoder.errors import InputError

from exploracoder_bench.provenance import UNKNOWN
from exploracoder_bench.report.run_folders import Runs


def codes_of(runs: Sequence[Runs], *, may_differ: bool = False) -> dict[str, str]:
    """The code of each folder, by its label, in words.

    Raises InputError when it is not the same for all, or unknown for several, unless it may differ.
    """
    codes = {one.label: str(one.plan.code or UNKNOWN) for one in runs}
    # Two folders that do not record their code cannot be taken to have the same.
    digests = {one.plan.code.digest if one.plan.code else one.label for one in runs}
    if len(digests) > 1 and not may_differ:
        listing = ", ".join(f"{label} with {code}" for label, code in codes.items())
        raise InputError(
            f"These runs were not made with the same code ({listing}): report them apart, or say"
            " --any-code for tables that name it."
        )
    return codes if len(digests) > 1 else {}
