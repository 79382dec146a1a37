"""The docs behind a solution: what the libraries say of the APIs that it uses.

Whoever reads a solution should see what it rests on, be it that the model was shown the docs or
that it wrote from memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from exploracoder_kernel.observation import Variable
from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.knowing.recommender import trim
from exploracoder.engine.knowing.sieve import live_types
from exploracoder.engine.reading import names
from exploracoder.engine.workbench import Workbench

# A value of Python's own may have it: ``rows.append`` says nothing of a library.
_OF_VALUES = frozenset(
    name for kind in (str, bytes, int, float, list, tuple, dict, set) for name in dir(kind)
)


def docs_behind(bench: Workbench, code: str, variables: Sequence[Variable]) -> tuple[ApiDoc, ...]:
    """The docs of the libraries' APIs that a text uses, in the order of their paths.

    What the context imports is imported. A member that several classes have is that of a live
    variable's class; none, if there is no such variable.
    """
    known = bench.libraries.known
    around = names.read(bench.exploration.task.context, known)
    found = names.read(code, known)
    found = dataclasses.replace(found, imported={**around.imported, **found.imported})
    types = sorted(live_types(known, variables))
    members = [doc for type_ in types for doc in known.members(type_)]
    likely = [doc for doc in members if doc.path.rpartition(".")[2] not in _OF_VALUES]
    used = (known.at(path) for path in names.apis_used(found, known, likely))
    return tuple(trim(bench, doc, is_kept=True) for doc in used if doc is not None)
