"""``exploracoder brief``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from exploracoder.cli.console import Progress, errors_as_json, print_json, run_async, say
from exploracoder.cli.options import (
    index_options,
    json_option,
    method_option,
    model_options,
    options_of,
    profile_option,
    python_option,
    quiet_option,
    set_option,
)

if TYPE_CHECKING:
    from exploracoder.engine.exploring.briefing import Briefing
    from exploracoder.models.model_cost import Usage


@click.command()
@click.argument("libraries", nargs=-1, required=True, metavar="NAME_OR_PATH…")
@profile_option
@method_option
@set_option
@python_option
@model_options
@index_options
@json_option
@quiet_option
def brief(libraries: tuple[str, ...], **arguments: Any) -> int:
    """Have the model write what it is told of libraries before it plans: a summary, example plans.

    It reads their overviews and examples for that, once for each version of a library and each
    model; what it wrote is kept with the index. An exploration does so too when nothing is there
    yet, and counts it as its own.

    \b
      exploracoder brief justhtml
      exploracoder brief ./mylib --model gpt-4o --profile paper
    """
    with errors_as_json(arguments["as_json"]):
        briefings, usage = _brief(libraries, arguments)
    if arguments["as_json"]:
        entries = {name: one.model_dump() for name, one in briefings.items()}
        print_json({"status": "done", "briefings": entries, "usage": usage.model_dump()})
        return 0
    for name, one in briefings.items():
        words = len(one.summary.split())
        say(f"{name}: a summary of {words} words, {len(one.plans)} example plans")
    click.echo(f"{usage.calls} model calls, {usage.total_tokens} tokens, {usage.seconds:.0f} s")
    return 0


def _brief(
    targets: tuple[str, ...], arguments: dict[str, Any]
) -> tuple[dict[str, Briefing], Usage]:
    """Each library's briefing as it is now stored, and what it cost to write them."""
    from exploracoder import prepare
    from exploracoder.engine.exploring import briefing
    from exploracoder.models.counting import CountingModel
    from exploracoder.workspace import open_libraries

    settings = prepare.settings_for(
        arguments["method"],
        profile=arguments["profile"],
        settings=dict(prepare.setting_of(one) for one in arguments["assignments"]),
        is_embedded=prepare.wants_embedded(arguments["model"], arguments["base_url"]),
        capabilities=prepare.known_capabilities(
            arguments["model"], arguments["base_url"], arguments["reasoning_effort"]
        ),
    )
    options = options_of(arguments)
    with (
        Progress(quiet=arguments["quiet"]) as progress,
        open_libraries(targets, options, tell=progress.working) as (index, libraries),
    ):

        async def work() -> tuple[dict[str, Briefing], Usage]:
            progress.working("Starting the model")
            async with options.open_model(arguments["model"]) as model:
                counting_model, briefings = CountingModel(model), {}
                for one in libraries:
                    progress.working(f"Reading the overview of {one.name}")
                    info = index.info(one.name)
                    briefings[one.name] = await briefing.brief(
                        counting_model, index, settings, info
                    )
            return briefings, counting_model.usage

        return run_async(work())
