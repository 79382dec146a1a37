"""Writes the reference pages that are made from the code: the command line, the settings, the
magics, the Jupyter server's options, and the form of a saved exploration.

Run: ``python docs/generate.py [FOLDER]``. Without a folder they go to ``docs/reference``, which is
made for each build of the site and never committed.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from exploracoder.cli import cli
from exploracoder.models.keys import PROVIDERS
from exploracoder.settings import PROFILES, Settings
from exploracoder.state import SCHEMA_VERSION, Exploration
from exploracoder_jupyter.app import ExploraCoder
from exploracoder_jupyter.magics.configuration import OWN_NAMES
from exploracoder_jupyter.magics.registry import OPTIONS, SUB_COMMANDS
from exploracoder_jupyter.magics.widgets.buttons import END, STEP, WHOLE
from pydantic.fields import FieldInfo

# In a help text: a command, in quotes unless it is pip's, and an option with what it takes.
_COMMAND = re.compile(
    r"'(exploracoder [^']+|--[^']+)'|pip install '[^']+'"
    r"|(?<![\w`-])--[a-z][a-z-]*(?: [a-z-]+=\w+|[= ][A-Z]+\b)?"
)
# A value that would make its column too wide.
_LONG_CHARS = 40

# Read in several places, so described here; a test compares the names with the code.
ENVIRONMENT: Mapping[str, str] = {
    "EXPLORACODER_CACHE": "folder for models, indexes, replies, and what is known of model servers;"
    " by default the user's cache folder",
    "EXPLORACODER_DATA": "folder for kept examples and given docs; by default the"
    " user's data folder, or the folder `data` of `EXPLORACODER_CACHE` if that is set",
    "EXPLORACODER_CONFIG": "folder for what you agreed to, your table of prices, and the keys that"
    " `exploracoder model admit` gives out; by default the user's configuration folder",
    "EXPLORACODER_MODEL": "the model to ask, unless `--model` names one",
    "EXPLORACODER_MODEL_LINGER_S": "seconds that the embedded model's server waits for another"
    " exploration before it stops; 20 by default",
    "EXPLORACODER_MODEL_CPU": "which build of the embedded model's arithmetic to use: `amx`,"
    " `avx512_vnni`, `avx_vnni`, `avx2`, `i8mm`, `dotprod` or `built in`; by default the fastest"
    " one that the processor can run, which `exploracoder doctor` names",
    "EXPLORACODER_MODEL_SLOTS": "how many requests the embedded model's server answers at once,"
    " each with a context of its own (0.5 GiB); 1 by default. More pay off when many explorations"
    " run side by side, as with `exploracoder bench run --jobs`",
    "EXPLORACODER_REASONING_EFFORT": "how long a model that reasons should think, unless"
    " `--reasoning-effort` says so: `none`, `minimal`, `low`, `medium` or `high`",
    "EXPLORACODER_SANDBOX": "the sandbox's level, unless `--sandbox` names one",
    "EXPLORACODER_STRATEGY": "how branches are made, unless `--strategy` says so",
    "HF_ENDPOINT": "the model hub that `exploracoder model pull` asks first",
    "HF_HUB_OFFLINE": "`1`: ask no hub, only the package index",
    "OPENAI_API_KEY": "the endpoint's key, unless its provider's own variable holds one ("
    + ", ".join(f"`{name}`" for provider in PROVIDERS[1:] for name in provider.variables)
    + "), or it is evidently OpenAI's and the endpoint is neither OpenAI's nor the one in"
    " `OPENAI_BASE_URL`; never shown, saved, or passed on to the scratch kernel",
    "OPENAI_BASE_URL": "the OpenAI-compatible endpoint, unless `--base-url` names one",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).parent / "reference"
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text("\n".join(page()).rstrip("\n") + "\n", encoding="utf-8")


def cli_page() -> Iterator[str]:
    """The command line: every command with its arguments and options."""
    yield "# The command line"
    yield ""
    yield from _words(cli.help)
    context = click.Context(cli, info_name="exploracoder")
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None, "a group knows the commands that it lists"
        yield from _command(f"exploracoder {name}", command)


def settings_page() -> Iterator[str]:
    """The settings with their values in each profile, and the environment."""
    yield "# Settings"
    yield ""
    yield from _words(_PROFILES)
    yield f"| setting | meaning | values | {' | '.join(PROFILES)} |"
    yield "| --- | --- | --- |" + " --- |" * len(PROFILES)
    for name, field in Settings.model_fields.items():
        if name != "profile":
            meaning, values = _setting(name, field)
            yield f"| `{name}` | {_cell(meaning)} | {_range(field)} | {' | '.join(values)} |"
    yield "\n## Environment\n"
    yield "| variable | meaning |"
    yield "| --- | --- |"
    for name, meaning in ENVIRONMENT.items():
        yield f"| `{name}` | {meaning} |"


def _setting(name: str, field: FieldInfo) -> tuple[str, Sequence[str]]:
    """A setting's meaning and its values; a long one that all profiles share is part of it."""
    values = [_value(getattr(profile, name)) for profile in PROFILES.values()]
    meaning = field.description or ""
    if len(set(values)) == 1 and len(values[0]) > _LONG_CHARS:
        return f"{meaning}: {values[0]}", [""] * len(values)
    return meaning, values


def notebook_page() -> Iterator[str]:
    """The form of a saved exploration: every object in the metadata with its fields."""
    yield "# The exploration notebook"
    yield ""
    yield from _words(_NOTEBOOK.format(version=SCHEMA_VERSION))
    schema = Exploration.model_json_schema()
    definitions = schema.pop("$defs")
    for name, one in {"Exploration": schema, **definitions}.items():
        yield f"## {name}\n"
        yield from _words(one.get("description", "").partition("\n\nAttributes:")[0])
        yield "| field | type | default |"
        yield "| --- | --- | --- |"
        for field, field_schema in one["properties"].items():
            default = "required" if field in one.get("required", ()) else _default(field_schema)
            yield f"| `{field}` | {_cell(_type(field_schema))} | {default} |"
        yield ""


def notebook_schema() -> Iterator[str]:
    """The same as JSON Schema."""
    yield json.dumps(Exploration.model_json_schema(), indent=1, ensure_ascii=False)


_PROFILES = """
A profile is a set of values, chosen by `--profile`: `small` is for small models, `standard` for all
others, and `paper` has the values and the procedure of the paper. `--set NAME=VALUE` changes a
single setting. Where a meaning begins with a letter, that is the paper's name for the setting.

Without `--profile`, ExploraCoder picks the settings that suit the model. `exploracoder model test`
asks the model a handful of short questions and keeps what it learnt about that endpoint and model.
Starting an exploration asks nothing, and what is not known changes nothing. The rules:

- A model of fewer than three thousand million parameters, as its name or server says: `small`.
- A model that would need more than 300 s to write all cells in one answer, thoughts included:
  `small`.
- A larger model that is fast enough: `standard`. If none of this is known: `small` for the embedded
  model, `standard` for any other.
- A short context: half of it goes to what is shown of the libraries, a quarter to the answer.
- A model that thinks before it answers: drafting stops at the first good candidate, the model
  re-ranks nothing, and its thoughts have their own share of the context.
- A model that cannot call functions is offered none.

`exploracoder model test` prints the outcome, and so does `exploracoder explore`.
"""


_NOTEBOOK = """
An exploration is saved as a notebook (nbformat 4.5) that opens and runs in plain Jupyter. Its cells
are for people. Everything needed to go on is in the notebook's metadata, under `exploracoder`: an
object with the fields below and `revision`, which counts the states saved by a JupyterLab server.
[notebook-format.schema.json](notebook-format.schema.json) says the same as a JSON Schema. Fields
that are not listed here are refused.

`schema_version` is the version of this form, now {version}. Each cell's own metadata, under
`exploracoder`, gives its `role` (`task`, `context`, `goal`, `candidate`, `verdict`, `solution`,
`check`, `branches`) and, if it belongs to a subtask, that `subtask`'s id.

The first release writes version 8. A notebook from an older release is converted when it is opened,
and saved in the new form at the next step; until then the file is untouched. One from a newer
version is refused with the advice to upgrade. Settings may come and go without a new version: an
unknown one is dropped with a warning.

A damaged notebook is refused, and the message says where it is damaged; nothing is guessed. Apart
from fields of the wrong type, these count as damage:

- a subtask whose id is not `step-` and a number, or is used twice;
- a candidate whose id is not its subtask's id, a slash and a number, or is used twice in a step;
- a step that is `done` although its `chosen` names no candidate that was run;
- a solution without an attempt;
- an output that nbformat does not know;
- numbers that are not finite, text that is not Unicode, more than 100 levels of nesting.
"""


def magics_page() -> Iterator[str]:
    """The magics: options of a task, sub-commands, buttons."""
    yield "# The magics: all words\n"
    yield "`%exploracoder help` prints them too. [How the magics work](../magics.md).\n"
    yield "## Options of a task\n"
    yield "| option | meaning |"
    yield "| --- | --- |"
    yield from (f"| `{_cell(option.line)}` | {_cell(option.about)} |" for option in OPTIONS)
    yield "\n## Sub-commands\n"
    yield "| `%exploracoder …` | meaning |"
    yield "| --- | --- |"
    yield from (f"| `{_cell(word.line)}` | {_cell(word.about)} |" for word in SUB_COMMANDS)
    yield "\n## What config takes\n"
    yield f"{', '.join(f'`{name}`' for name in OWN_NAMES)}; and every [setting](settings.md)."
    yield "They mean what they mean on [the command line](cli.md)."
    yield "\n## Buttons\n"
    yield "| button | `%exploracoder …` | what it does |"
    yield "| --- | --- | --- |"
    for button in (*WHOLE, *STEP, *END):
        yield f"| `{button.name}` | `{button.command}` | {button.tooltip} |"


def server_page() -> Iterator[str]:
    """The options of JupyterLab's server."""
    yield "# Options of the Jupyter server\n"
    yield "In `jupyter_server_config.py`, each as `c.ExploraCoder.NAME = …`.\n"
    yield "| option | meaning |"
    yield "| --- | --- |"
    for name, trait in sorted(ExploraCoder.class_own_traits(config=True).items()):
        yield f"| `{name}` | {_cell(trait.help)} |"


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {
    "cli.md": cli_page,
    "settings.md": settings_page,
    "magics.md": magics_page,
    "server-options.md": server_page,
    "notebook-format.md": notebook_page,
    "notebook-format.schema.json": notebook_schema,
}


def _command(name: str, command: click.Command) -> Iterator[str]:
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    options = [param for param in command.params if isinstance(param, click.Option)]
    yield f"## {name}\n"
    if not isinstance(command, click.Group):
        usage = [name, *(_argument(argument) for argument in arguments), "[OPTIONS]"]
        yield f"```\n{' '.join(usage)}\n```\n"
    yield from _words(command.help)
    if options:
        yield from (f"- {_option(option)}" for option in options)
        yield ""
    if isinstance(command, click.Group):
        for sub, subcommand in command.commands.items():
            yield from _command(f"{name} {sub}", subcommand)


def _words(text: str | None) -> Iterator[str]:
    """A help text as Markdown: paragraphs that click must not wrap are code."""
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        if paragraph.startswith("\b"):
            yield f"```\n{inspect.cleandoc(paragraph.removeprefix(chr(8)))}\n```\n"
        else:
            yield f"{_with_code(paragraph)}\n"


def _with_code(text: str) -> str:
    """Words of a help text with its commands and options as code."""
    return _COMMAND.sub(lambda match: f"`{match[1] or match[0]}`", text)


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.secondary_opts:
        names += ", " + ", ".join(f"`{name}`" for name in option.secondary_opts)
    if not option.is_flag:
        names += f" `{_metavar(option)}`"
    notes = ["required"] if option.required else []
    notes += ["repeatable"] if option.multiple else []
    notes += [f"default {option.default}"] if option.show_default else []
    note = f" ({', '.join(notes)})" if notes else ""
    return f"{names}{note}: {_with_code(option.help or '')}"


def _metavar(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "|".join(option.type.choices)
    return option.type.name.split()[0].upper()


def _range(field: FieldInfo) -> str:
    """What a setting may be, as its type and bounds say."""
    words = str(field.annotation) if not isinstance(field.annotation, type) else ""
    if "Literal" in words:
        return ", ".join(f"`{value}`" for value in getattr(field.annotation, "__args__", ()))
    if field.annotation is bool:
        return "`True`, `False`"
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    bounds = (
        f"{sign} {getattr(bound, name):g}"
        for bound in field.metadata
        for name, sign in signs.items()
        if hasattr(bound, name)
    )
    return ", ".join(bounds)


def _type(schema: dict[str, Any]) -> str:
    """A part of a JSON Schema in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object":
        return "object of values"
    return str(schema.get("format") or schema.get("type") or "any")


def _default(schema: dict[str, Any]) -> str:
    """What stands for a field that is left out; objects are made of their own defaults."""
    if "default" not in schema:
        return "made anew"
    return (
        "its defaults"
        if isinstance(schema["default"], dict)
        else f"`{json.dumps(schema['default'])}`"
    )


def _value(value: object) -> str:
    return "none" if value is None else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
