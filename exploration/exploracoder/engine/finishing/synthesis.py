"""The solution: written from the trace, run in a fresh state with the user's checks, repaired.

ExploraCoder, section 3.3 (equation 4: used and recommended APIs) and appendix A.9 (listing 7).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence

from exploracoder_kernel.observation import Observation
from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.exploring import arguments
from exploracoder.engine.exploring.conversation import as_answer
from exploracoder.engine.finishing.solution_prompt import repair_request, solution_messages
from exploracoder.engine.knowing.helpful import docs_behind
from exploracoder.engine.knowing.name_problems import check, missing_attribute
from exploracoder.engine.knowing.recommender import ALIKE, find, find_alike
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.library_map import LibraryMap
from exploracoder.engine.reading.replies import code_block, no_code
from exploracoder.engine.reading.syntax import called_in, only_defines, without_repetition
from exploracoder.engine.running import renaming, substituting
from exploracoder.engine.running.oracle import judge
from exploracoder.engine.workbench import Workbench
from exploracoder.errors import BudgetError, ModelError, NoCodeError
from exploracoder.models.chat import Message
from exploracoder.state import Attempt, CheckResult, Example, ExampleCall, Solution

PART = "solution"
_UNCHECKED = 5


def _is_done(attempts: Sequence[Attempt]) -> bool:
    return attempts[-1].leaves_no_doubt


async def synthesize(
    bench: Workbench,
    apis: Sequence[ApiDoc],
    *,
    attempts: int | None = None,
    repairs: int | None = None,
    part: str = PART,
    share: float = 1.0,
    from_memory: bool = False,
    api_map: LibraryMap | None = None,
    examples: Sequence[Example] = (),
    is_enough: Callable[[Sequence[Attempt]], bool] = _is_done,
    keep: Callable[[Solution], None] | None = None,
) -> Solution:
    """Write the solution from the trace and ``apis``, until ``is_enough`` accepts the attempts.

    By default that is when the last one is good and its example call did not fail. Each attempt
    starts from scratch and has its own repair rounds; no further one starts once ``share`` of a
    limit is used up. ``part`` is what requests count towards, ``api_map`` lists further APIs, and
    ``examples`` are further ones. Code written ``from_memory`` may use any names. Raises
    BudgetError, ModelError, and NoCodeError if no reply contains code; before the former two,
    ``keep`` gets what has been written until then.
    """
    settings, results, seen_codes = bench.settings, list[Attempt](), set[str]()
    silence: NoCodeError | None = None
    count = settings.solution_attempts if attempts is None else attempts
    rounds = settings.repair_rounds if repairs is None else repairs
    messages = solution_messages(bench, apis, (), api_map, examples)
    for number in range(count):
        if number and bench.limits.has_used(share):
            break
        with bench.doing(f"Attempt {number + 1} of {count}" if count > 1 else ""):
            tries = _write(bench, messages, apis, number, rounds, part, seen_codes, not from_memory)
            try:
                async for one in tries:
                    results.append(one)
            except NoCodeError as error:
                silence = error
            except (BudgetError, ModelError):
                if results and keep is not None:
                    keep(_solution(results, apis))
                raise
        if results and is_enough(results):
            break
    if silence is not None and not results:
        raise silence
    return _solution(results, apis)


def _solution(attempts: Sequence[Attempt], apis: Sequence[ApiDoc]) -> Solution:
    return Solution(attempts=tuple(attempts), apis=tuple(doc.path for doc in apis))


async def _write(
    bench: Workbench,
    messages: Sequence[Message],
    apis: Sequence[ApiDoc],
    number: int,
    rounds: int,
    part: str,
    seen_codes: set[str],
    is_code: bool,
) -> AsyncIterator[Attempt]:
    """Yield an attempt from scratch and its repairs, until one of them leaves no doubt.

    Raises NoCodeError if none of the replies contains code.
    """
    attempt: Attempt | None = None

    async def run(code: str, base: str) -> Attempt:
        return await try_solution(bench, code, part, base=base)

    for repair in range(1 + rounds):
        sampling = bench.model.sampling(
            PART,
            number=100 * number + repair,
            max_tokens=bench.settings.solution_tokens,
            is_code=is_code,
        )
        reply = await bench.model.ask(part, messages, sampling)
        code = code_block(reply.text)
        if not code:
            continue
        attempt = await try_solution(bench, code, part)
        yield attempt
        variant = await mend(bench, attempt, apis, run, seen_codes, part)
        if variant is not None:
            attempt = variant
            yield attempt
        if attempt.leaves_no_doubt:
            return
        messages = [
            *messages[:2],
            as_answer(attempt.code),
            await repair_request(bench, attempt),
        ]
    if attempt is None:
        raise no_code(bench.model.name, reply.text, *reply.finish_reasons[:1])


async def mend(
    bench: Workbench,
    original: Attempt,
    apis: Sequence[ApiDoc],
    run: Callable[[str, str], Awaitable[Attempt]],
    seen_codes: set[str],
    part: str = PART,
) -> Attempt | None:
    """The attempt with other names in it, if such a variant passes when it is run.

    The model is not asked. Names near missing ones are tried first, then other APIs, but no code
    in ``seen_codes``. ``run`` takes a variant and the branch to start from; ``part`` is what the
    libraries' import counts towards.
    """
    task, root = bench.exploration.task, bench.branches.root
    can_be_better = not original.leaves_no_doubt if task.check else bool(original.problems)
    if not (bench.settings.repair_names and bench.is_confined and can_be_better):
        return None
    # A slow attempt is not tried often, and would be run once more to see whether it fails alike.
    base = await bench.branches.primed_root(part) if task.target is None else root
    seconds = sum(one.seconds for one in _observations(original)) - bench.branches.import_seconds
    if seconds >= renaming.MOST_SECONDS:
        base = root
    # What fails in another way once the libraries are there is tried without them.
    if base != root and _failure(await run(original.code, base)) != _failure(original):
        base = root

    async def try_variant(code: str) -> Attempt:
        attempt = await run(code, base)
        return await run(code, root) if attempt.leaves_no_doubt and base != root else attempt

    variant = await _rename(original, try_variant)
    return variant or await _substitute(bench, original, apis, try_variant, seen_codes)


def _failure(attempt: Attempt) -> object:
    """What went wrong in an attempt, for a comparison."""
    errors = [one.error for one in _observations(attempt) if one.error is not None]
    return [(one.ename, one.evalue) for one in errors], attempt.problems


def _observations(attempt: Attempt) -> list[Observation]:
    """What came out of an attempt's code, its check and its example call."""
    call = attempt.call.observation if attempt.call is not None else None
    observations = (attempt.observation, attempt.check_observation, call)
    return [one for one in observations if one is not None]


async def _rename(original: Attempt, run: Callable[[str], Awaitable[Attempt]]) -> Attempt | None:
    """The attempt with near names in place of those that do not exist, if that is good."""
    if original.leaves_no_doubt or not original.problems:
        return None
    return await renaming.search(original, run, lambda attempt: attempt.leaves_no_doubt)


async def _substitute(
    bench: Workbench,
    original: Attempt,
    apis: Sequence[ApiDoc],
    run: Callable[[str], Awaitable[Attempt]],
    seen_codes: set[str],
) -> Attempt | None:
    """The attempt with other APIs in some places, if the user's check accepts that.

    Without a check only names that do not exist are replaced, by the first that runs.
    """
    task = bench.exploration.task
    # Without a check much that runs is wrong: only the likeliest are tried.
    most = substituting.MOST if task.check else _UNCHECKED

    def is_good(attempt: Attempt) -> bool:
        return attempt.leaves_no_doubt and bool(task.check or not attempt.problems)

    if is_good(original) or not (task.check or original.problems) or task.target:
        return None

    async def docs_for(wrong: Collection[str]) -> Sequence[ApiDoc]:
        alike = await find_alike(bench, sorted(wrong), ALIKE)
        more = await find(bench, task.text, bench.settings.retrieved_apis)
        docs = [*alike, *apis, *(hit.doc for hit in more)]
        return list({doc.path: doc for doc in docs}.values())

    return await substituting.search(
        original,
        bench.libraries.known,
        docs_for,
        run,
        is_good,
        most,
        seen_codes,
        task.context,
        only_wrong=not task.check,
    )


def solution_apis(bench: Workbench) -> tuple[ApiDoc, ...]:
    """The APIs that the trace used and those recommended for the whole task (equation 4)."""
    paths = [path for link in bench.exploration.trace for path in link.candidate.apis]
    docs = [doc for path in paths if (doc := bench.libraries.known.at(path)) is not None]
    # The notebook keeps only the beginning of a recommended doc; the index has all of it.
    docs += [bench.libraries.known.at(doc.path) or doc for doc in bench.exploration.overall.kept]
    return tuple({doc.path: doc for doc in docs}.values())


async def try_solution(
    bench: Workbench,
    code: str,
    part: str = PART,
    calls: str = "",
    base: str = "",
) -> Attempt:
    """Run one version of the solution, then the user's checks, in a fresh fork of the root.

    ``base`` is another branch to fork. Without a check, ``calls`` run after it; without those, a
    function is called with its example arguments, if it has any. A class is first put into a copy
    of its repository.
    """
    task = bench.exploration.task
    if task.target is not None:
        return await judge(bench, code, part)
    code = stub.complete(without_repetition(code, [task.context]), task.stub)
    base = base or bench.branches.root
    branch = await bench.sidecar.fork(base)
    try:
        variables = await bench.sidecar.variables(branch)
        snippet = await check(bench, base, code, variables, [task.context], ())
        observation = await bench.branches.run(part, branch, snippet.code)
        missing = await missing_attribute(bench, base, observation)
        check_observation: Observation | None = None
        checks: CheckResult = "none"
        call: ExampleCall | None = None
        if observation.ran and task.check:
            check_observation = await bench.branches.run(part, branch, task.check)
            checks = "passed" if check_observation.ran else "failed"
            # What happens inside a function only shows when the check calls it.
            missing = await missing_attribute(bench, base, check_observation)
        elif observation.ran and (example := calls or arguments.call_in(bench.exploration)):
            call_observation = await bench.branches.run(part, branch, example)
            call = ExampleCall(
                code=example, called=called_in(example), observation=call_observation
            )
            missing = await missing_attribute(bench, base, call.observation)
        return Attempt(
            code=snippet.code,
            observation=observation,
            check_observation=check_observation,
            checks=checks,
            call=call,
            added_imports=snippet.added_imports,
            problems=(*snippet.problems, *missing),
            docs=docs_behind(bench, snippet.code, variables),
            only_defines=checks == "none" and call is None and only_defines(snippet.code),
        )
    finally:
        await bench.sidecar.drop(branch)
