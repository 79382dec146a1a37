"""An exploration as something to keep or to send: a script, or a report as Markdown or HTML.

What is shown comes from users, models, docs and outputs: each writer escapes all of it.
"""

from __future__ import annotations

from typing import Literal

from exploracoder.state import Exploration

ExportForm = Literal["py", "html", "md"]


def export(exploration: Exploration, form: ExportForm) -> str:
    """The text of the file.

    Args:
        exploration: At any stage; a script needs its solution.
        form: ``py``: context, solution, and the check as comments; ``html`` and ``md``: a report
            with everything that was tried.

    Raises:
        CommandError: There is no solution to make a script of.
    """
    match form:
        case "py":
            from exploracoder.exporting.script import script

            return script(exploration)
        case "md":
            from exploracoder.exporting.markdown import markdown
            from exploracoder.exporting.report import report

            return markdown(report(exploration))
        case "html":
            from exploracoder.exporting.page import page
            from exploracoder.exporting.report import report, title

            return page(title(exploration), report(exploration))
