"""The command line. Commands are imported only when called, which keeps ``--help`` fast."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

import click

from exploracoder import __version__

_COMMANDS = {
    "explore": ("explore", "Explore a task with a library and write a verified solution."),
    "resume": ("explore", "Go on with an exploration from its last finished step."),
    "replay": ("replay", "Run an exploration's cells again without a model."),
    "export": ("export", "Make a script or a report of an exploration."),
    "diff": ("diff", "Compare two explorations."),
    "index": ("library", "Read a library's docs into the index."),
    "brief": ("brief", "Have the model write what it is told of a library before it plans."),
    "search": ("library", "Find the APIs of a library that do what you say."),
    "map": ("library", "Print every public API of a library in a line each."),
    "memory": ("memory", "List or forget examples kept of your code and of what you accepted."),
    "tools": ("tools", "Look up classes, signatures, code and imports in a repository."),
    "apisearch": ("apisearch", "Find APIs in docs and, if you say so, on the web."),
    "model": ("model", "Fetch, look after, or serve the embedded model."),
    "sidecar": ("sidecar", "Run files in the scratch kernel, or look at one that runs."),
    "mcp": ("mcp", "Offer libraries, a kernel that branches, and checks to other agents."),
    "doctor": ("doctor", "Say what is found, what is missing, and what to do."),
}


# The entry point group in which packages that build on this one register their commands.
_PLUGINS = "exploracoder.commands"


def _plugins() -> dict[str, EntryPoint]:
    """The commands that installed packages add; they cannot override ours."""
    points = {point.name: point for point in entry_points(group=_PLUGINS)}
    return {name: points[name] for name in sorted(points) if name not in _COMMANDS}


class _LazyGroup(click.Group):
    """Knows the commands' names and first lines without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *_plugins()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            plugin = _plugins().get(cmd_name)
            return plugin.load() if plugin is not None else None
        module = import_module(f"exploracoder.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            theirs = ((name, self._line(ctx, name)) for name in _plugins())
            ours = ((name, line) for name, (_, line) in _COMMANDS.items())
            formatter.write_dl([*ours, *theirs])

    def _line(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return command.get_short_help_str(80) if command is not None else ""


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="exploracoder")
def cli() -> None:
    """Explore a library that your language model does not know.

    ExploraCoder reads the library's docs, tries small steps in a scratch kernel, looks at what came
    out, and writes a solution that was run and checked. Everything is saved as a notebook.

    \b
      exploracoder explore "Turn the page's table into a list of dicts" --library justhtml

    Exit codes: 0 solved, or unverified for want of a check; 1 not solved; 2 bad input or set-up;
    130 interrupted.
    """


def main() -> None:
    """The entry point: print our own errors without a traceback; exit with 130 on Ctrl-C."""
    if sys.platform == "win32":
        click.echo("Error: ExploraCoder cannot run on Windows; use WSL.", err=True)
        sys.exit(2)
    # jsonschema, which chromadb and nbformat import, spends 1.5 s building a grammar of IRIs if it
    # finds this package. Nothing here validates IRIs.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    from exploracoder_retrieval.errors import RetrievalError

    from exploracoder.errors import ExploraCoderError

    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (ExploraCoderError, RetrievalError) as error:
        _say(f"Error: {error}")
        sys.exit(2)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _say("Interrupted.")
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _say(text: str) -> None:
    from exploracoder.cli.console import say

    say(text, err=True)
