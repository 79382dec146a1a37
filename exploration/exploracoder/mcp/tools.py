"""The tools as clients see them: names, descriptions and arguments."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, Any

from exploracoder_kernel.errors import SidecarError
from exploracoder_kernel.run_limits import Limits
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, ImageContent, TextContent
from pydantic import Field

from exploracoder.errors import InputError, SetupError, raised_as
from exploracoder.events import Event
from exploracoder.installed import import_paths
from exploracoder.mcp import tool_results
from exploracoder.mcp.client_libraries import Libraries
from exploracoder.mcp.folder import Folder, called
from exploracoder.mcp.kept_branches import FRESH, Branches
from exploracoder.opening import Scratch
from exploracoder.settings import make_settings
from exploracoder.workspace import Options, in_thread

Targets = Annotated[
    Annotated[list[str], Field(min_length=1, max_length=10)] | None,
    Field(
        description="installed libraries by name, or paths in the server's folder; not needed where"
        " the server was started with some"
    ),
]
Name = Annotated[
    str,
    Field(
        description="package.Class.member; or Class.member, or the last name, of a library that an"
        " earlier call named or that the server was started with",
        min_length=1,
    ),
]
ContextCode = Annotated[str, Field(description="code that runs first: data, helpers")]
Check = Annotated[
    str, Field(description="code that runs after the solution and raises when it is wrong")
]
EntryPoint = Annotated[
    str | None, Field(description="the function that the solution must define, if it is one")
]


class Tools:
    """The tools, with what they need opened on first use; `close` ends all of it."""

    def __init__(self, folder: Folder, options: Options, model: str | None) -> None:
        self._folder = folder
        self._options = options
        self._model = model
        self._libraries = Libraries(folder, options)
        self._branches = Branches(self._open_scratch)

    async def close(self) -> None:
        """End the sidecar, and close the index."""
        await self._branches.close()
        self._libraries.close()

    async def find_apis(
        self,
        task: Annotated[str, Field(description="what the APIs should do, in plain words")],
        libraries: Targets = None,
        k: Annotated[int, Field(ge=1, le=50, description="how many")] = 10,
    ) -> str:
        """Find the APIs of installed libraries that do what you say, best first.

        Searches the docs of the versions that are installed here. Each is answered with how to
        import it, its signature, and the beginning of its docs.
        """
        return await in_thread(self._libraries.find, task, self._folder.chosen(libraries), k)

    async def read_doc(self, name: Name) -> str:
        """Read an API's documentation in full, as the installed version has it."""
        return await in_thread(self._libraries.doc, _bare(name))

    async def library_map(
        self,
        library: Annotated[
            str | None,
            Field(
                description="its name, or its path in the server's folder; not needed where the"
                " server was started with one"
            ),
        ] = None,
        task: Annotated[str, Field(description="where not all fits, what it should be for")] = "",
        budget: Annotated[
            int, Field(ge=100, le=50_000, description="tokens that it may have, about")
        ] = 8_000,
    ) -> str:
        """Read every public API of a library in a line each: path, signature, first sentence."""
        targets = self._folder.chosen([library] if library is not None else None)
        if len(targets) > 1:
            names = ", ".join(map(called, targets))
            raise InputError(f"Say which library is meant: this server was started with {names}.")
        return await in_thread(self._libraries.map, targets[0], task, budget)

    async def read_source(self, name: Name) -> str:
        """Read how an API, or anything else in an installed module, is written."""
        return await in_thread(self._libraries.source, _bare(name))

    async def run_cells(
        self,
        cells: Annotated[
            list[str],
            Field(min_length=1, max_length=50, description="code, as in a notebook's cells"),
        ],
        branch: Annotated[
            str | None,
            Field(
                description="the branch to go on from, which stays as it is; 'b0' is one in which"
                " nothing has run. By default the one of the last call, or of go_back"
            ),
        ] = None,
    ) -> Annotated[CallToolResult, tool_results.ShownRun]:
        """Run Python in a sandboxed kernel that keeps every earlier state, and see what came out.

        The cells run one after another in a new branch: a copy of the state that it goes on from,
        in milliseconds. Where one fails, those after it are not run. Try things: nothing that they
        do to variables can be harmful, since the branch before is still there. In the usual sandbox
        they have no network, and may read the server's folder and write to none that lasts.
        """
        homes = await in_thread(self._libraries.homes)
        with raised_as(SetupError, SidecarError):
            run = await self._branches.run(cells, branch, homes)
        excerpt = tool_results.shown_run(run)
        pictures = tool_results.pictures(run.observations)
        images = [ImageContent(type="image", data=data, mime_type=kind) for kind, data in pictures]
        text = TextContent(type="text", text=excerpt.model_dump_json(indent=1))
        return CallToolResult(
            content=[text, *images], structured_content=excerpt.model_dump(mode="json")
        )

    async def go_back(
        self,
        branch: Annotated[
            str,
            Field(
                description="the branch that an earlier run_cells answered with, or"
                f" '{FRESH}', in which nothing has run"
            ),
        ],
    ) -> tool_results.ShownState:
        """Go back to an earlier state: run_cells goes on from there. Tells its variables."""
        with raised_as(SetupError, SidecarError):
            variables = await self._branches.go_back(branch)
        return tool_results.ShownState(
            branch=branch, variables=tool_results.shown_variables(variables)
        )

    async def check(
        self,
        solution: Annotated[str, Field(description="all of its code")],
        libraries: Targets = None,
        check: Check = "",
        context: ContextCode = "",
        entry_point: EntryPoint = None,
    ) -> tool_results.Verdict:
        """Check a solution: run it in a fresh state, and the check after it.

        Where that fails, it is said whether the solution or the check raised, and at which line.
        Names that the installed versions do not have are told with real ones near them. Without a
        check a solution is at best unverified.
        """
        from exploracoder.mcp import solution_check

        with raised_as(SetupError, SidecarError):
            return await solution_check.check(
                solution,
                self._folder.chosen(libraries),
                self._libraries,
                self._options,
                context=context,
                check=check,
                entry_point=entry_point,
            )

    async def explore(
        self,
        task: Annotated[
            str,
            Field(
                description="what you want, in a sentence or two; may hold the head of a function"
            ),
        ],
        ctx: Context[Any, Any],
        libraries: Targets = None,
        check: Check = "",
        context: ContextCode = "",
        entry_point: EntryPoint = None,
        notebook: Annotated[
            str | None,
            Field(description="where in the server's folder to save all of it: a name in .ipynb"),
        ] = None,
    ) -> tool_results.ExplorationOutcome:
        """Have the whole task done: plan, tries, and a solution that was run and checked.

        The server's own model writes it, which takes from seconds to many minutes; progress is
        told, and the call can be cancelled.
        """
        options: dict[str, Any] = {
            "libraries": self._folder.chosen(libraries),
            "check": check,
            "context": context,
            "entry_point": entry_point,
            "model": self._model,
            "options": self._options,
        }
        output = self._folder.inside(notebook) if notebook is not None else None
        with tempfile.TemporaryDirectory(prefix="exploracoder-") as folder:
            place = output or Path(folder, "exploration.ipynb")
            exploration = await _with_progress(ctx, task, output=place, **options)
        return tool_results.explored(exploration, str(output) if output is not None else None)

    async def _open_scratch(self) -> AbstractAsyncContextManager[Scratch]:
        settings = make_settings(self._options.profile or "standard", **self._options.settings)
        interpreter = await in_thread(lambda: self._libraries.interpreter)
        scratch = await in_thread(self._options.find_scratch, interpreter.executable)
        # This makes libraries outside the folder readable, too.
        paths = import_paths(await in_thread(self._libraries.homes))
        return scratch(Limits(wall_seconds=settings.run_seconds), paths)


def _bare(name: str) -> str:
    """Strip what models tend to add to a name: quotes, or a whole signature."""
    return name.partition("(")[0].strip("` \n")


async def _with_progress(ctx: Context[Any, Any], task: str, **arguments: Any) -> Any:
    """Explore, and report each event to the client."""
    from exploracoder import api

    news: asyncio.Queue[str] = asyncio.Queue()

    def hear(event: Event) -> None:
        news.put_nowait(event.progress.message)

    async def tell() -> None:
        for number in itertools.count(1):
            await ctx.report_progress(number, message=await news.get())

    reporter = asyncio.ensure_future(tell())
    try:
        return await api.explore(task, on_event=hear, **arguments)
    finally:
        reporter.cancel()
        await asyncio.gather(reporter, return_exceptions=True)
