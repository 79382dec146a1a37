"""Checks a snippet's names before it runs, and reads from a failed run which one is missing."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from exploracoder_kernel.observation import Observation, Variable
from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.reading import snippet_names
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder.engine.workbench import Workbench
from exploracoder.state import NameProblem

# Python's message for an object that does not support an operation. A type written in C, such as
# an array's, is named with its module.
OBJECT_ERROR = re.compile(
    r"'(?:[\w.]+\.)?(?P<type>\w+)' object (?:is|has|does)\b(?:.*attribute '(?P<name>\w+)')?"
)


async def missing_attribute(
    bench: Workbench, branch: str, observation: Observation
) -> tuple[NameProblem, ...]:
    """The attribute that a run found missing on a class of the library, and real ones near it."""
    match = OBJECT_ERROR.search(observation.error.evalue) if observation.error else None
    if match is None or not match["name"]:
        return ()
    classes = [doc for doc in bench.libraries.known.named(match["type"]) if doc.kind == "class"]
    if not classes:
        return ()
    owner, name = classes[0].path, match["name"]
    resolutions = await bench.branches.resolve(branch, [f"{owner}.{name}"])
    nearest = resolutions[0].nearest if resolutions else ()
    return (NameProblem(name=name, owner=owner, nearest=nearest),)


@dataclass(frozen=True, slots=True)
class CheckedSnippet:
    """A snippet after the static check, with missing imports added."""

    code: str
    added_imports: tuple[str, ...] = ()
    problems: tuple[NameProblem, ...] = ()
    apis: tuple[str, ...] = ()


async def check(
    bench: Workbench,
    branch: str,
    code: str,
    variables: Sequence[Variable],
    earlier: Sequence[str],
    docs: Sequence[ApiDoc],
) -> CheckedSnippet:
    """Check every name of a snippet against the installed version, without running anything.

    Args:
        bench: The exploration's tools.
        branch: The branch in a fork of which it is about to run.
        code: The snippet.
        variables: The branch's variables, without modules.
        earlier: The code that has run there.
        docs: The docs that the snippet's author has seen.
    """
    imports = tuple(library.import_name for library in bench.exploration.libraries)
    before = _imported(earlier, bench.libraries.known)
    bound = [*(variable.name for variable in variables), *before]
    code_names = snippet_names.read(code, bench.libraries.known, before)
    resolve = functools.partial(bench.branches.resolve, branch)
    import_lines: tuple[str, ...] = ()
    if bench.settings.repair_names:
        import_lines = snippet_names.missing_imports(
            code_names, bench.libraries.known, bound, imports
        )
        code = snippet_names.with_imports(code, import_lines)
        code_names = snippet_names.read(code, bench.libraries.known, before)
    return CheckedSnippet(
        code=code,
        added_imports=import_lines,
        problems=await snippet_names.problems(code_names, resolve, bound, imports),
        apis=snippet_names.apis_used(code_names, bench.libraries.known, docs),
    )


def _imported(codes: Sequence[str], apis: KnownApis) -> dict[str, str]:
    """The imports of several snippets: local names mapped to paths."""
    paths: dict[str, str] = {}
    for code in codes:
        paths |= snippet_names.read(code, apis).imports
    return paths
