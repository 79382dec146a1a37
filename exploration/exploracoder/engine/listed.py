"""Steps that a task lists itself: whoever wrote them knows better than a model how to go about it.

A small model words such steps anew, puts them in another order and adds its own.
"""

from __future__ import annotations

import re

_FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"\s*(\d+)[.)]\s+(\S.*)")
# What else is numbered are requirements or examples.
_SAYS_STEPS = re.compile(
    r"\bsteps?\b|\b(in|after) (this|that|the following) order\b", re.IGNORECASE
)


def steps_of(task: str) -> tuple[str, ...]:
    """The items of a task's one list that is numbered from 1 and introduced as steps.

    Empty when there is none, or when it has a single item or stands beside another list.
    """
    intro, items, is_open = "", list[str](), False
    said: list[str] = []
    for line in _FENCED.sub("", task).splitlines():
        found = _ITEM.match(line)
        if found is not None:
            if int(found[1]) != len(items) + 1:
                return ()
            intro = intro if items else " ".join(said[-2:])
            items.append(found[2].strip())
            is_open = True
        elif not line.strip():
            is_open = False
        elif is_open and line[0].isspace():
            items[-1] += f" {line.strip()}"
        else:
            is_open = False
            said.append(line)
    return tuple(items) if len(items) > 1 and _SAYS_STEPS.search(intro) else ()
