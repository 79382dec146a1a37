"""How often a library's own docs and examples use each of its APIs, read from their code.

What the examples use over and over is needed to use the library at all, although no task names it:
APIs that wrap a list, open a file, or hold a table.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from exploracoder_retrieval.apidoc import ApiDoc
from exploracoder_retrieval.ranking.searched_fields import is_member, names

_TOKEN = re.compile(r"\w+|[^\w\s]")
_NAME = re.compile(r"[^\W\d]\w*")
_IMPORT_AS = re.compile(r"\bimport\s+([\w.]+)\s+as\s+(\w+)")
_PROMPTS = (">>>", "...")
# A short name in front of many of the library's top-level names is an alias for it: ``np``.
_MAX_ALIAS_CHARS = 5
_MIN_ALIAS_NAMES = 5
_ALIAS_SHARE = 0.8


@dataclass(slots=True)
class Usage:
    """In how many docs or examples a name is used in code, by what precedes it.

    ``through`` counts pairs (name before the dot, name), ``on_object`` names after a dot that does
    not follow a module, ``bare`` names without a dot; ``mention_counts`` counts those that contain
    the name anywhere. An API's own doc does not count for it.
    """

    modules: frozenset[str] = frozenset()
    through: Counter[tuple[str, str]] = field(default_factory=Counter)
    on_object: Counter[str] = field(default_factory=Counter)
    bare: Counter[str] = field(default_factory=Counter)
    mention_counts: Counter[str] = field(default_factory=Counter)

    def of(self, doc: ApiDoc) -> int:
        """How often an API was used: members through an object, the rest through their module."""
        parts = doc.path.split(".")
        own = parts[-1]
        count = sum(self.on_object[name] for name in names(doc) if is_member(doc) or name != own)
        if is_member(doc):
            return count
        places = self.modules if len(parts) <= 2 else {parts[-2]}
        return count + self.bare[own] + sum(self.through[place, own] for place in places)

    def mentions(self, doc: ApiDoc) -> int:
        """How many other docs and examples contain an API's name."""
        return max(self.mention_counts[name] for name in names(doc))

    def _count(
        self, codes: Iterable[str], known_names: frozenset[str], own: frozenset[str]
    ) -> None:
        uses = {use for code in codes for use in _uses(code, known_names) if use[1] not in own}
        self.through.update(use for use in uses if use[0])
        self.bare.update(name for before, name in uses if not before)
        self.on_object.update(
            {name for before, name in uses if before and before not in self.modules}
        )


def read_usage(docs: Sequence[ApiDoc], examples: Iterable[str] = ()) -> Usage:
    """Count usage in the code in the docs and in examples outside them."""
    known_names = frozenset(name for doc in docs for name in names(doc))
    codes = [list(_codes(doc)) for doc in docs]
    extra = list(examples)
    usage = Usage(modules=_module_names(docs, [*codes, extra], known_names))
    for doc, own_codes in zip(docs, codes, strict=True):
        usage._count(own_codes, known_names, names(doc))
        text = f"{doc.doc} {doc.signature}"
        usage.mention_counts.update(set(_NAME.findall(text)) - names(doc))
    for code in extra:
        usage._count([code], known_names, frozenset())
        usage.mention_counts.update(set(_NAME.findall(code)))
    return usage


def _codes(doc: ApiDoc) -> Iterator[str]:
    lines = (line.lstrip() for line in doc.doc.splitlines())
    yield "\n".join(line[3:] for line in lines if line.startswith(_PROMPTS))
    yield from doc.examples


def _uses(code: str, known_names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Each known name, preceded by the token before its dot: a name, a bracket, or nothing."""
    tokens = ["", "", *_TOKEN.findall(code)]
    for before, dot, name in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if name in known_names:
            yield (before if dot == "." else "", name)


def _module_names(
    docs: Sequence[ApiDoc], codes: Sequence[Sequence[str]], known_names: frozenset[str]
) -> frozenset[str]:
    """The names under which examples import the library: its own, and its aliases."""
    roots = {doc.path.partition(".")[0] for doc in docs}
    top = {doc.path.partition(".")[2] for doc in docs if doc.path.count(".") == 1}
    aliases = {
        match[2]
        for doc, own in zip(docs, codes, strict=False)
        for text in (doc.doc, *own)
        for match in _IMPORT_AS.finditer(text)
        if match[1] in roots
    }
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for own in codes:
        for before, name in (use for code in own for use in _uses(code, known_names)):
            if before and len(before) <= _MAX_ALIAS_CHARS:
                counts[before][name] += 1
    return frozenset(roots | aliases | {b for b, uses in counts.items() if _is_top(uses, top)})


def _is_top(counts: Mapping[str, int], top: set[str]) -> bool:
    here = sum(count for name, count in counts.items() if name in top)
    return len(counts) >= _MIN_ALIAS_NAMES and here >= _ALIAS_SHARE * sum(counts.values())
