"""Mends a subtask's candidates by replacing names, without asking the model.

This is done only in a sandbox that lets nothing out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.knowing.recommender import ALIKE, find_alike
from exploracoder.engine.running import renaming, substituting
from exploracoder.engine.running.selection import has_good_evidence, is_sound
from exploracoder.engine.running.trial import Trial, earlier_cells
from exploracoder.state import Candidate


def _may_mend(trial: Trial) -> bool:
    return trial.bench.settings.repair_names and trial.bench.is_confined


async def rename(trial: Trial, candidates: Sequence[Candidate]) -> None:
    """Mend candidates that failed on names that do not exist, without asking the model."""
    if not _may_mend(trial) or any(is_sound(one) for one in candidates):
        return

    for candidate in [one for one in candidates if not one.ran and one.problems]:

        async def run(code: str, candidate: Candidate = candidate) -> Candidate:
            id_ = f"{trial.step.subtask.id}/{trial.next_number}"
            return await trial.run(id_, code, "debug", candidate.id)

        variant = await renaming.search(candidate, run, is_sound)
        if variant is not None:
            trial.candidates.append(variant)
            trial.bench.show(trial.shown)
            return


async def substitute(trial: Trial, candidates: Sequence[Candidate]) -> None:
    """Try other APIs in a candidate that shows nothing or uses names that do not exist.

    They are the recommended ones, and those that do what the wrong names suggest.
    """
    doubtful = [one for one in candidates if not is_sound(one) and (one.ran or one.problems)]
    if not doubtful or trial.is_settled or not _may_mend(trial):
        return
    candidate = doubtful[0]

    async def run(code: str) -> Candidate:
        id_ = f"{trial.step.subtask.id}/{trial.next_number}"
        return await trial.run(id_, code, "debug", candidate.id)

    async def docs_for(wrong: Collection[str]) -> Sequence[ApiDoc]:
        alike = await find_alike(trial.bench, sorted(wrong), ALIKE)
        return [*alike, *trial.step.recommendation.kept]

    variant = await substituting.search(
        candidate,
        trial.bench.libraries.known,
        docs_for,
        run,
        lambda one: has_good_evidence(one, trial.wanted_names),
        substituting.MOST // 4,
        {one.code for one in trial.candidates},
        "\n".join(earlier_cells(trial.bench)),
        only_wrong=bool(candidate.problems),
    )
    if variant is not None:
        trial.candidates.append(variant)
        trial.bench.show(trial.shown)
