"""Export an exploration as a script, or as a report in Markdown or HTML.

What is shown comes from users, models, docs and outputs, and is escaped.
"""

from __future__ import annotations

from typing import Literal

from exploracoder.state import Exploration

ExportForm = Literal["py", "html", "md"]


def export(exploration: Exploration, form: ExportForm) -> str:
    """The text of the exported file.

    Args:
        exploration: At any stage; a script needs its solution.
        form: ``py``: context, solution, and the check as comments; ``html`` and ``md``: a report
            with everything that was tried.

    Raises:
        CommandError: There is no solution, or it cannot be a script.
    """
    if form == "py":
        from exploracoder.exporting.script import script

        return script(exploration)
    from exploracoder.exporting.html_report import page, report

    return report(exploration) if form == "md" else page(exploration)
