"""What an installed wheel must do on the command line and in IPython."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from exploracoder.testing import ScriptedModelServer
from exploration.scripted import CHECK, CONTEXT, TASK, TeaModel
from release.installation import CheckError, Installation

_LIBRARY = Path(__file__).parents[1] / "exploration" / "packages" / "tealeaf"
_COMMANDS = ("explore", "index", "doctor", "mcp", "bench")


def expect(condition: object, message: str) -> None:
    """Raise CheckError with what was said instead."""
    if not condition:
        raise CheckError(message[-3000:])


def installs_from_the_index(installation: Installation) -> str:
    """With all that it depends on, for JupyterLab too; no two of them are at odds."""
    start = time.monotonic()
    installation.pip("install", str(installation.wheel))
    seconds, size_mb = time.monotonic() - start, installation.size_mb()
    installation.pip("install", f"{installation.wheel}[lab]")
    installation.pip("check")
    return f"{installation.wheel.name}, {seconds:.0f} s and {size_mb} MB without JupyterLab"


def leaves_nothing_behind(installation: Installation) -> str:
    """Uninstalled, the environment has no file more than without us."""
    installation.pip("uninstall", "--yes", "exploracoder")
    files = installation.files()
    ours = {name for name in files if "exploracoder" in name}
    ours |= files - (installation.others or files)
    expect(not ours, f"left: {', '.join(sorted(ours))}")
    installation.others = files
    return f"{len(files)} files of others"


def installs_without_the_index(installation: Installation) -> str:
    """Where the dependencies are already; what is there is of the wheel's version."""
    installation.pip("install", "--no-index", "--no-deps", str(installation.wheel))
    output = installation.run("exploracoder", "--version")
    expect(installation.version in output, output)
    return installation.version


def names_its_commands(installation: Installation) -> str:
    """``--help``, with the commands that come by entry points."""
    output = installation.run("exploracoder", "--help")
    expect(all(f"  {name} " in output for name in _COMMANDS), output)
    return f"{output.count(chr(10))} lines"


def doctor_finds_no_problem(installation: Installation) -> str:
    """And the arithmetic that the wheel carries."""
    findings = json.loads(installation.run("exploracoder", "doctor", "--json"))
    by_topic = {one["topic"]: one for one in findings}
    arithmetic = by_topic["its arithmetic"]
    expect(arithmetic["level"] == "ok", str(arithmetic))
    expect(by_topic["JupyterLab"]["level"] == "ok", str(by_topic["JupyterLab"]))
    return str(arithmetic["found"])


def explores_replays_and_exports(installation: Installation) -> str:
    """A task with a library that no model knows, on a scripted model, with a check."""
    _write_task(installation.work)
    words = ("--library", "tealeaf", "--context", "context.py", "--check", "check.py")
    with _scripted_model() as variables:
        output = installation.run(
            *("exploracoder", "explore", TASK, *words, "--output", "made.ipynb"),
            variables=variables,
        )
    expect("SOLVED" in output, output)
    installation.run("exploracoder", "replay", "made.ipynb")
    installation.run("exploracoder", "export", "made.ipynb", "--to", "html")
    expect((installation.work / "made.html").is_file(), "made.html is missing")
    return "solved, and checked"


def magics_work_in_the_newest_ipython(installation: Installation) -> str:
    """As the index has it for this Python."""
    return _use_magics(installation, {})


def magics_work_in_ipython_8(installation: Installation) -> str:
    """In a folder before the environment's own."""
    older = installation.folder / "ipython8"
    installation.pip("install", "--no-deps", "--target", str(older), "ipython<9", "decorator")
    return _use_magics(installation, {"PYTHONPATH": str(older)})


def _use_magics(installation: Installation, variables: Mapping[str, str]) -> str:
    _write_task(installation.work)
    (installation.work / "typed.ipynb").unlink(missing_ok=True)
    with _scripted_model() as of_model:
        output = installation.run(
            *("python", "-m", "IPython", "--simple-prompt", "--no-banner", "typed.ipy"),
            variables={**of_model, **variables},
        )
    expect("Verified" in output and "The solution is in the next cell" in output, output)
    version = installation.run(
        "python", "-c", "import IPython; print(IPython.__version__)", variables=variables
    )
    return f"IPython {version.strip()}"


def _write_task(folder: Path) -> None:
    shutil.copytree(_LIBRARY, folder / "tealeaf", dirs_exist_ok=True)
    words = "--library tealeaf --context context.py --check check.py --output typed.ipynb"
    magic_line = f"%exploracoder {words} {TASK}"
    files = {
        "context.py": CONTEXT,
        "check.py": CHECK,
        "typed.ipy": "\n".join(["%load_ext exploracoder", magic_line, "%exploracoder insert", ""]),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


@contextmanager
def _scripted_model() -> Iterator[dict[str, str]]:
    """The variables that name a scripted model's server."""
    with ScriptedModelServer(TeaModel()) as server:
        yield {"OPENAI_BASE_URL": server.base_url, "EXPLORACODER_MODEL": "scripted"}
