"""Describes values in a prompt: cut to size, one line each where that is enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from exploracoder_kernel.observation import Observation, Variable
from exploracoder_retrieval.apidoc import ApiDoc

from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder.engine.reading.syntax import lines_of
from exploracoder.settings import Settings
from exploracoder.state import NameProblem

_VARIABLE_CHARS = 160
_MIN_EXAMPLE_CHARS = 60
_MEMBERS = 24
# Of an object, not what a library prints of a program; a preview may be cut within one.
_ADDRESS = re.compile(r" at 0x(?:[0-9a-fA-F]{9,16}(?=[>,;])|[0-9a-fA-F]*(?=…))")


def clip(text: str, chars: int) -> str:
    """``text`` in at most about ``chars`` characters: head, tail, and how much is left out."""
    if len(text) <= chars:
        return text
    head, tail = chars * 2 // 3, chars // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[… {left_out} characters left out …]\n{text[len(text) - tail :]}"


def without_addresses(text: str) -> str:
    """Leave out where objects lie in memory: it says nothing, and makes each prompt another one."""
    return _ADDRESS.sub("", text)


def cut(text: str, chars: int) -> str:
    """A line truncated to at most ``chars`` characters."""
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


def listed(names: Iterable[str]) -> str:
    """Identifiers separated by commas, each in backticks."""
    return ", ".join(f"`{name}`" for name in names)


def describe_api(doc: ApiDoc, chars: int) -> str:
    """An ApiDoc as a list item: how to import it, signature, and as much of its text as fits.

    If not all fits, its summary and its first example say more than the beginning of its text. Its
    notes get a third of the room.
    """
    owner, _, name = doc.path.rpartition(".")
    signature = doc.signature or name
    if doc.kind in ("class", "function") and owner:
        signature = f"from {owner} import {name}: {signature}"
    forms = _short_aliases(doc)
    other = f" (also written {', '.join(forms)})" if forms else ""
    notes = _fitting(doc.notes, chars // 3)
    chars -= len(notes)
    text = doc.doc.strip()
    if len(text) > chars:
        text = doc.summary
        room = chars - len(text)
        if doc.examples and room > _MIN_EXAMPLE_CHARS:
            text += "\n" + clip(doc.examples[0].strip(), room)
    body = "\n".join(filter(None, (text, notes))).replace("\n", "\n  ")
    return f"- {signature}{other}" + (f"\n  {body}" if body else "")


def _fitting(notes: Iterable[str], chars: int) -> str:
    """The notes that fit, each of them whole."""
    text = ""
    for note in notes:
        if len(text) + len(note) < chars:
            text += f"\n{note}" if text else note
    return text


def _short_aliases(doc: ApiDoc) -> list[str]:
    """Other forms of use; other import paths of the same thing would only confuse."""
    return [alias for alias in doc.aliases if alias.startswith(".")]


def describe_apis(docs: Iterable[ApiDoc], chars: int) -> str:
    """A list of ApiDocs."""
    return "\n".join(describe_api(doc, chars) for doc in docs)


def describe_variable(variable: Variable, apis: KnownApis | None = None) -> str:
    """A variable as a list item: name, type, size, value, and what its class offers."""
    size = ""
    if variable.shape is not None:
        size = f", shape {variable.shape}"
    elif variable.length is not None:
        size = f", length {variable.length}"
    preview = without_addresses(variable.preview)
    value = f" = {clip(preview, _VARIABLE_CHARS)}" if preview else ""
    if variable.preview_error:
        value = f", which fails when it is read: {without_addresses(variable.preview_error)}"
    members = _members(variable, apis) if apis else ""
    return f"- {variable.name}: {variable.type}{size}{value}{members}"


def _members(variable: Variable, apis: KnownApis) -> str:
    """The methods and properties of a variable of the library, or of its elements."""
    parts = []
    for class_ in apis.classes_in(variable.type):
        names = [doc.path.rpartition(".")[2] for doc in apis.members(class_.path)]
        listing = ", ".join(names[:_MEMBERS]) + (", …" if len(names) > _MEMBERS else "")
        if names:
            parts.append(f"\n  {class_.path.rpartition('.')[2]} has: {listing}")
    return "".join(parts)


def describe_variables(variables: Sequence[Variable], apis: KnownApis | None = None) -> str:
    """A list of variables; classes and functions that were imported are not listed."""
    return "\n".join(
        describe_variable(variable, apis)
        for variable in variables
        if variable.type not in ("type", "function", "builtin_function_or_method")
    )


def describe_output(observation: Observation, chars: int) -> str:
    """What a run printed and returned."""
    parts = [observation.stdout.strip(), observation.result or ""]
    return clip(without_addresses("\n".join(part for part in parts if part)), chars)


def describe_error(observation: Observation, code: str, chars: int) -> str:
    """What went wrong in a run, with the failing line of the snippet."""
    error = observation.error
    if error is None:
        stderr = clip(without_addresses(observation.stderr), chars)
        return f"The run ended as: {observation.status}. {stderr}".strip()
    lines = lines_of(code)
    where = ""
    if error.line is not None and 0 < error.line <= len(lines):
        where = f"line {error.line}: {lines[error.line - 1].strip()}\n"
    return clip(without_addresses(f"{where}{error.ename}: {error.evalue}"), chars)


def describe_problems(settings: Settings, problems: Sequence[NameProblem]) -> str:
    """Names that do not exist, one per line; empty without the setting ``name_hints``."""
    return "\n".join(str(problem) for problem in problems) if settings.name_hints else ""
