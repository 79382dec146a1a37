"""A question to a tool, as people and programs write it, validated before it is asked."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from exploracoder_retrieval.errors import QuestionError
from exploracoder_retrieval.repotools.six_tools import RepositoryTools
from exploracoder_retrieval.repotools.tool_answers import Answer

# The arguments that each tool requires, and those that are optional.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "get_related_snippets": ("query",),
    "get_imports": ("code",),
    "get_class_info": ("class_name",),
    "get_signature": ("method_name",),
    "get_method_body": ("method_name",),
    "get_relevant_code": ("query",),
}
_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "get_imports": ("file",),
    "get_signature": ("class_name",),
    "get_method_body": ("class_name",),
}
TOOL_NAMES = tuple(_NEEDED)


@dataclass(frozen=True, slots=True)
class Question:
    """A tool's name and its arguments, by the tool's own parameter names."""

    tool: str
    arguments: Mapping[str, str]

    @classmethod
    def of(
        cls, tool: str, arguments: Mapping[str, object], names: Mapping[str, str] | None = None
    ) -> Question:
        """A validated question; arguments that are None count as not given.

        ``names`` are what the caller's interface calls the arguments, for error messages.

        Raises:
            QuestionError: no such tool, or an argument is missing, empty, unknown or out of bounds.
        """
        names = names or {}
        tool = find_tool(tool)
        values = {name: value for name, value in arguments.items() if value is not None}
        takes = (*_NEEDED[tool], *_OPTIONAL.get(tool, ()))
        for name in values:
            if name not in takes:
                listing = " and ".join(names.get(one, one) for one in takes)
                raise QuestionError(f"{tool} takes {listing}, not {names.get(name, name)}.")
        texts = {name: str(value) for name, value in values.items()}
        for name in _NEEDED[tool]:
            if not texts.get(name, "").strip():
                raise QuestionError(f"{tool} needs {names.get(name, name)}.")
        if "file" in texts:
            _check_inside(texts["file"])
        return cls(tool, texts)

    def ask(self, tools: RepositoryTools) -> Answer:
        """The tool's answer.

        Raises:
            NameNotFound: there is no such class, method or function.
            UnreadableSource: the code is not Python.
        """
        no_class = {"class_name": None} if "method_name" in self.arguments else {}
        answer: Answer = getattr(tools, self.tool)(**{**no_class, **self.arguments})
        return answer


def find_tool(name: str) -> str:
    """The tool's full name; dashes may stand for underscores, and ``get_`` may be left out.

    Raises:
        QuestionError: there is no such tool; the message names the nearest.
    """
    tool = name.strip().lower().replace("-", "_")
    for candidate in (tool, f"get_{tool}"):
        if candidate in _NEEDED:
            return candidate
    near = difflib.get_close_matches(tool, TOOL_NAMES, n=1, cutoff=0.0)[0]
    raise QuestionError(
        f"There is no tool {name!r}. The nearest is {near}; all of them: {', '.join(TOOL_NAMES)}."
    )


def _check_inside(file: str) -> None:
    path = PurePosixPath(file.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise QuestionError(
            f"{file} is not inside the repository. Give its path from the top folder on."
        )
