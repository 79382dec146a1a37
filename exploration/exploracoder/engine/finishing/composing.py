"""Composes the solution from the explored steps, without asking the model."""

from __future__ import annotations

import ast
import itertools
import time
from collections.abc import Sequence

from exploracoder.engine.exploring import arguments
from exploracoder.engine.finishing.synthesis import try_solution
from exploracoder.engine.reading import stub
from exploracoder.engine.reading.result_names import result_names, shown
from exploracoder.engine.reading.syntax import IMPORTS, parsed
from exploracoder.engine.running.renaming import MOST_SECONDS
from exploracoder.engine.workbench import Workbench
from exploracoder.state import Attempt, Exploration

_COMPOSED = 64


async def compose(bench: Workbench, refused_codes: set[str]) -> Attempt | None:
    """Join the steps' candidates and run them with the user's checks, without asking the model.

    The chosen chain comes first; with a check, combinations with other candidates that ran follow,
    unless that takes long or a limit is near. What the check refuses is added to ``refused_codes``,
    and what is in there is not run again.
    Returns the first good attempt, or else that of the chosen chain. None if the steps cannot be
    joined, or if any doubt remains and there is no check.
    """
    exploration = bench.exploration
    if not (bench.settings.compose and exploration.trace):
        return None
    first: Attempt | None = None
    end = 0.0
    most = _COMPOSED if exploration.task.check else 1
    for codes in itertools.islice(itertools.product(*_choices(exploration)), most):
        code = _together(exploration, codes)
        if code is None or code in refused_codes:
            continue
        if first is not None and (bench.limits.is_late or time.monotonic() > end):
            break
        attempt = await try_solution(bench, code)
        if not exploration.task.check:
            return attempt if _is_as_explored(exploration, attempt) else None
        if first is None:
            first, end = attempt, time.monotonic() + MOST_SECONDS
        if attempt.is_good:
            return attempt
        refused_codes.add(code)
    return first


def _together(exploration: Exploration, codes: Sequence[str]) -> str | None:
    """The snippets as one program, or as the body of the requested function."""
    task = exploration.task
    if stub.function_name(task.stub):
        return _as_function(task.stub, codes)
    if task.entry_point or (stub.assignment_target(task.stub) and not task.check):
        return None
    return _joined(codes)


def _as_function(head: str, codes: Sequence[str]) -> str | None:
    """The steps under the function's head, returning the value of the last one.

    None if the last one has no value; if a parameter is not read, since the steps then contain an
    example value in its place; or if a variable that they make is not read, since the last value
    was then not all that was wanted.
    """
    imports, body = _parted(codes)
    value = _value_of(body[-1]) if body else None
    if value is None:
        return None
    if isinstance(body[-1], ast.Expr):
        body = body[:-1]
    return_statement = ast.Return(value=value)
    nodes = [node for one in (*body, return_statement) for node in ast.walk(one)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    read_names = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    needed_names = {one.name for one in stub.parameters(head)} | {node.id for node in names}
    if not needed_names <= read_names:
        return None
    inside = "\n".join(ast.unparse(one) for one in (*body, return_statement))
    function = stub.complete(inside, head)
    return "\n".join([*imports, "", function] if imports else [function])


def _value_of(last: ast.stmt) -> ast.expr | None:
    match last:
        case ast.Expr(value=value):
            return value
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return ast.Name(id=name, ctx=ast.Load())
    return None


def _is_as_explored(exploration: Exploration, attempt: Attempt) -> bool:
    """Whether the attempt reproduces the steps' wanted results in a fresh state."""
    if not attempt.leaves_no_doubt or attempt.problems:
        return False
    if attempt.call is not None:
        result = dict(shown(attempt.call.observation)).get(arguments.RESULT)
        last = dict(shown(exploration.trace[-1].observation))
        return result is not None and result in last.values()
    values = {name: value for link in exploration.trace for name, value in shown(link.observation)}
    wanted_names = result_names(exploration.task)
    again = dict(shown(attempt.observation))
    return bool(wanted_names) and all(
        name in values and again.get(name) == values[name] for name in wanted_names
    )


def _choices(exploration: Exploration) -> list[list[str]]:
    """For each finished step the code that ran, the chosen one first; none that has magics.

    Others than the chosen one count only if a check decides between them: see `trust.preview`.
    """
    has_check = bool(exploration.task.check)
    return [
        [
            candidate.code
            for candidate in sorted(step.candidates, key=lambda one: one.id != step.chosen)
            if (has_check or candidate.id == step.chosen)
            and candidate.ran
            and parsed(candidate.code) is not None
        ]
        for step in exploration.steps
        if step.status == "done" and step.subtask.id != arguments.STEP
    ]


def _joined(codes: Sequence[str]) -> str:
    imports, body = _parted(codes)
    rest = [ast.unparse(node) for node in body]
    return "\n".join([*imports, "", *rest] if imports else rest)


def _parted(codes: Sequence[str]) -> tuple[list[str], list[ast.stmt]]:
    """The imports, each once, and the other statements, without those that only show values, or
    assign once more what the one before does: steps may share what they do.
    """
    nodes = [node for code in codes for node in ast.parse(code).body if not _is_print(node)]
    imports = dict.fromkeys(ast.unparse(node) for node in nodes if isinstance(node, IMPORTS))
    others = [node for node in nodes if not isinstance(node, IMPORTS)]
    pairs = itertools.pairwise([ast.Pass(), *others])
    return list(imports), [node for before, node in pairs if not _is_repeated(before, node)]


def _is_repeated(before: ast.stmt, node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.dump(before) == ast.dump(node)


def _is_print(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Name)
