"""The page that ``%exploracoder help`` shows, generated from the registry."""

from __future__ import annotations

from exploracoder_jupyter.magics import registry
from exploracoder_jupyter.magics.page_blocks import Code, Heading, Line, Page, Table

_EXAMPLE = """\
%%exploracoder --library justhtml --check check_links --bring page
List the links in the page's navigation."""


def help_page(name: str = "") -> Page:
    """All sub-commands and options, or one. Raises InputError when there is no such sub-command."""
    if name:
        sub_command = registry.find_sub_command(name)
        if sub_command is None:
            raise registry.unknown(name)
        return Page((Code(f"%exploracoder {sub_command.line}"), Line(sub_command.about)))
    commands = tuple((one.line, one.about) for one in registry.SUB_COMMANDS)
    options = tuple((one.line, one.about) for one in registry.OPTIONS)
    return Page(
        (
            Heading("A task"),
            Line("In a cell of its own, or as %exploracoder TASK in one line:"),
            Code(_EXAMPLE),
            Table(options),
            Heading("%exploracoder …"),
            Table(commands),
            Line("--wait after a sub-command comes back when the work rests.", "dim"),
        )
    )
