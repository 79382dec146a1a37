"""The pieces of work that a live session does: each changes the bench and records what it did."""

from __future__ import annotations

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.observation import Observation

from exploracoder.abilities import Rules
from exploracoder.engine.exploring.explorer import explore, repair
from exploracoder.engine.finishing.chain import read_docs, write_solution
from exploracoder.engine.running import steering
from exploracoder.engine.workbench import Workbench
from exploracoder.engine.writing.write_cells import write
from exploracoder.errors import CommandError
from exploracoder.events import Progress
from exploracoder.memory import keep_step
from exploracoder.methods import is_planned
from exploracoder.methods.planned import make_plan
from exploracoder.prompts import render
from exploracoder.state import Candidate, Step
from exploracoder.texts import Text

_OTHER_WAY = "The user asks for another way to do it."


class Worker:
    """Does one piece of work after another on a bench.

    Methods that return a bool say whether to go on with the next subtask.
    """

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    async def synthesize(self) -> None:
        """Write the solution anew."""
        await write_solution(self._bench)

    async def accept(self, step: Step, candidate: Candidate) -> bool:
        """Accept a candidate, and keep it as an example; see `steering.accept`.

        Raises CommandError when it cannot be accepted.
        """
        refusal = Rules(self._bench.exploration, Progress()).not_acceptable(step, candidate)
        if refusal:
            raise CommandError(refusal)
        await steering.accept(self._bench, step, candidate)
        await self._record(Text("Accepted %1", candidate.id), without_solution=True)
        accepted_step = steering.find_step(self._bench.exploration, step.subtask.id)
        await keep_step(self._bench, accepted_step)
        return True

    async def try_code(self, step: Step, code: str) -> bool:
        """Run the user's own code, and accept it if it runs."""
        candidate = await steering.own(self._bench, step, code)
        return await self.accept_own(step.subtask.id, candidate)

    async def add_own(
        self, subtask: str, code: str, branch: str, observation: Observation
    ) -> Candidate | None:
        """Make what the user ran by hand in a branch a candidate; None if that is gone."""
        bench = self._bench
        step = steering.find_in(bench.exploration, subtask)
        try:
            if step is not None:
                return await steering.adopt(bench, step, code, branch, observation)
            await bench.sidecar.drop(branch)
        except SidecarError:
            # Its kernel has been restarted since, or is gone.
            pass
        return None

    async def accept_own(self, subtask: str, candidate: Candidate) -> bool:
        """Accept a candidate of the user's own if it ran."""
        if not candidate.ran:
            await self._record(Text("%1 did not run", candidate.id))
            return False
        step = steering.find_step(self._bench.exploration, subtask)
        return await self.accept(step, candidate)

    async def skip(self, step: Step) -> bool:
        """Leave a subtask out."""
        await steering.skip(self._bench, step)
        await self._record(Text("Skipped %1", step.subtask.id), without_solution=True)
        return True

    async def debug(self, step: Step, candidate: Candidate, hint: str) -> None:
        """Ask for a repair of a candidate."""
        bench = self._bench
        with steering.all_or_nothing(bench):
            step = await self._opened(step)
            base = bench.branches.current
            why = _doubt(candidate, hint) if hint or candidate.ran else ""
            proposal = await repair(bench, step, candidate, hint=why)
        await self._show_proposal(proposal, base)

    async def draft(self, step: Step, hint: str) -> None:
        """Ask for other candidates."""
        bench = self._bench
        with steering.all_or_nothing(bench):
            step = await self._opened(step)
            base = bench.branches.current
            if not step.recommendation.apis:
                step = await read_docs(bench, step)
            candidate = step.candidate or (step.candidates[-1] if step.candidates else None)
            why = _doubt(candidate, hint) if candidate else hint
            proposal = await explore(bench, step, hint=why)
        if proposal.chosen is None:
            proposal = proposal.model_copy(update={"chosen": step.chosen})
        await self._show_proposal(proposal, base)

    async def go_back(self, step: Step) -> None:
        """Open a subtask and all later ones again."""
        with steering.all_or_nothing(self._bench):
            await steering.reopen(self._bench, step)
        step = steering.find_step(self._bench.exploration, step.subtask.id)
        if step.candidate is not None and step.candidate.ran:
            step = step.model_copy(update={"status": "review"})
            self._bench.put(step)
        await self._record(Text("Went back to %1", step.subtask.id))

    async def replan(self, step: Step) -> None:
        """Plan again from an open subtask on."""
        bench = self._bench
        later = bench.exploration.steps[bench.exploration.position(step) :]
        replaced_ids = [one.subtask.id for one in later]
        plans = is_planned(bench.exploration.method, bench.settings)
        await (make_plan if plans else write)(bench, replaced_ids)

    async def _opened(self, step: Step) -> Step:
        """The step, reopened first if it is not open."""
        if not step.is_open:
            await steering.reopen(self._bench, step)
        return steering.find_step(self._bench.exploration, step.subtask.id)

    async def _show_proposal(self, step: Step, base: str) -> None:
        proposal = steering.propose(self._bench, step, base)
        if proposal.candidate is not None and proposal.candidate.ran:
            proposal = proposal.model_copy(update={"status": "review"})
        self._bench.put(proposal)
        await self._record(Text("Candidates for %1", step.subtask.id), without_solution=True)

    async def _record(self, message: str, *, without_solution: bool = False) -> None:
        if without_solution:
            self._bench.change(solution=None)
        await self._bench.update(message)


def _doubt(candidate: Candidate, hint: str) -> str:
    return render("explore", "doubt", code=candidate.code, why=hint or _OTHER_WAY)
