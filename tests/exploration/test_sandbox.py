"""The sandbox from the command line: asked for, reported, agreed to do without."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from exploracoder.cli import doctor
from exploracoder.errors import SetupError
from exploracoder.models import cpu_backends
from exploracoder_kernel.sandbox import ChosenSandbox

from .conftest import Command, Explorer, Serve

THERE_IS_NONE = """
import sys
from exploracoder_kernel.sandbox import bubblewrap
from exploracoder_kernel.branch import landlock
bubblewrap.find = lambda: None
landlock.version = lambda: 0
from exploracoder import cli
sys.argv = ["exploracoder", *sys.argv[1:]]
cli.main()
"""


def test_the_notebook_says_what_its_code_was_kept_from(
    serve: Serve, explore: Explorer, sandboxing: ChosenSandbox
) -> None:
    outcome = explore(serve(), "--json", "--candidates", "1")

    assert outcome.json["sandbox"] == str(sandboxing)
    assert explore.exploration.sandbox == str(sandboxing)


def test_progress_names_the_sandbox(
    serve: Serve, command: Command, tmp_path: Path, explore: Explorer, sandboxing: ChosenSandbox
) -> None:
    words = [word for word in explore.words(serve(), *explore.files()) if word != "--quiet"]

    outcome = command(*words)

    assert f"Sandbox: {sandboxing}" in " ".join(outcome.err.split())


def test_a_solution_leaves_no_file_in_the_users_folder(
    serve: Serve, explore: Explorer, library: Path, sandboxing: ChosenSandbox
) -> None:
    if sandboxing.level == "off":
        pytest.skip("without a sandbox, code writes where it runs")
    context = "open('left.txt', 'w').close()\n"
    before = sorted(library.rglob("*"))

    explore(serve(), *explore.files(context=context))

    assert sorted(library.rglob("*")) == before


def test_a_notebook_can_not_switch_the_sandbox_off(
    serve: Serve,
    explore: Explorer,
    command: Command,
    library: Path,
    sandboxing: ChosenSandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if sandboxing.level == "off":
        pytest.skip("it was switched off by whoever runs the tests")
    explore(serve(), "--candidates", "1")
    contents = json.loads(explore.notebook.read_text())
    exploration = contents["metadata"]["exploracoder"]
    exploration["sandbox"] = "off"
    exploration["task"]["context"] += "\nopen('escaped.txt', 'w').close()\n"
    explore.notebook.write_text(json.dumps(contents))
    monkeypatch.delenv("EXPLORACODER_SANDBOX")

    command("replay", explore.notebook)

    assert not (library / "escaped.txt").exists()


def test_an_unknown_level_is_refused_from_an_option_and_from_the_environment(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    option_outcome = command("doctor", "--sandbox", "loose")
    monkeypatch.setenv("EXPLORACODER_SANDBOX", "loose")
    environment_outcome = command("doctor")

    assert (option_outcome.code, environment_outcome.code) == (2, 2)
    assert "'loose' is not one of" in option_outcome.err
    assert "'loose' is not one of" in environment_outcome.err


def test_doctor_says_which_sandbox_and_why(command: Command, sandboxing: ChosenSandbox) -> None:
    outcome = command("doctor", "--json")

    finding = next(one for one in outcome.json if one["topic"] == "sandbox")
    assert finding["found"].startswith(f"{sandboxing}: ")
    assert finding["level"] == ("ok" if sandboxing.mechanism == "bubblewrap" else "note")


def test_doctor_remembers_and_forgets_an_agreement(command: Command) -> None:
    file = Path(os.environ["EXPLORACODER_CONFIG"]) / "consent.json"

    command("doctor", "--allow-no-sandbox")
    assert json.loads(file.read_text())["runs_without_sandbox"] is True

    command("doctor", "--forbid-no-sandbox")
    assert not file.exists()


def test_where_nobody_can_be_asked_the_error_says_how_to_agree(
    tmp_path: Path, match: Callable[[str, str], bool]
) -> None:
    (tmp_path / "one.py").write_text("print('ran')\n")

    process = subprocess.run(
        [sys.executable, "-c", THERE_IS_NONE, "sidecar", "run", tmp_path / "one.py"],
        env={**os.environ, "EXPLORACODER_SANDBOX": "auto"},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )

    assert process.returncode == 2
    assert "ran" not in process.stdout
    assert match("apt install bubblewrap.*doctor --allow-no-sandbox", process.stderr)


def test_on_a_terminal_the_question_is_asked_once(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("print('it ' + 'ran')\n")
    words = ("sidecar", "run", "one.py")

    _, refusal = _at_a_terminal(tmp_path, words, b"n\n")
    _, agreement = _at_a_terminal(tmp_path, words, b"y\n")
    _, again = _at_a_terminal(tmp_path, words, b"")

    assert "Go on without a sandbox" in refusal
    assert "it ran" not in refusal
    assert "Go on without a sandbox" in agreement
    assert "it ran" in agreement
    assert "Go on without a sandbox" not in again
    assert "it ran" in again


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 2), (b"\x03", 130)])
@pytest.mark.parametrize(
    "words", [("sidecar", "run", "one.py"), ("explore", "Print it", "-l", "one.py")], ids=" ".join
)
def test_whoever_is_asked_can_refuse_or_leave(
    tmp_path: Path, words: tuple[str, ...], answer: bytes, code: int
) -> None:
    (tmp_path / "one.py").write_text("print('it ' + 'ran')\n")

    exit_code, output = _at_a_terminal(tmp_path, words, answer)

    assert "[y/N]" in output
    assert "it ran" not in output
    assert exit_code == code


def _at_a_terminal(folder: Path, words: Sequence[str], answer: bytes) -> tuple[int, str]:
    """How the command ends for a person who answers the question, and what they see."""
    ours, theirs = pty.openpty()
    end = time.monotonic() + 60
    with subprocess.Popen(
        [sys.executable, "-c", THERE_IS_NONE, *words],
        env={
            **os.environ,
            "EXPLORACODER_SANDBOX": "auto",
            "EXPLORACODER_CONFIG": str(folder / "config"),
        },
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        # The terminal is the command's own, so that it hears of Ctrl-C.
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
        start_new_session=True,
    ) as process:
        os.close(theirs)
        output = b""
        while time.monotonic() < end and select.select([ours], [], [], 30)[0]:
            try:
                output += os.read(ours, 4096)
            except OSError:
                break
            if answer and b"[y/N]" in output:
                time.sleep(1)  # as fast as a person is; Python misses what comes sooner
                os.write(ours, answer)
                answer = b""
        try:
            exit_code = process.wait(max(0.0, end - time.monotonic()))
        finally:
            process.kill()
    os.close(ours)
    return exit_code, " ".join(output.decode(errors="replace").split())


@pytest.mark.parametrize(("model", "level"), [("embedded", "problem"), ("brewer", "note")])
def test_what_only_the_embedded_model_needs_is_no_problem_with_an_endpoint(
    model: str, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise SetupError("libgomp is missing.")

    monkeypatch.setenv("EXPLORACODER_MODEL", model)
    monkeypatch.setenv("EXPLORACODER_CACHE", str(tmp_path))
    monkeypatch.setattr(cpu_backends, "require_openmp", missing)
    # Enough for an index, and not for weights beside it.
    free = shutil.disk_usage(tmp_path)._replace(free=1_500_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free)

    assert doctor._arithmetic().level == level
    assert doctor._cache().level == ("problem" if level == "problem" else "ok")


def test_doctor_says_that_jupyterlab_has_no_sidebar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor.metadata, "version", lambda _: "99.0")
    monkeypatch.setattr(
        "jupyter_core.paths.jupyter_path", lambda *words: [str(tmp_path.joinpath(*words))]
    )
    without = doctor._lab()
    (tmp_path / "labextensions/exploracoder").mkdir(parents=True)
    (tmp_path / "labextensions/exploracoder/package.json").write_text("{}")

    assert (without.level, without.advice) == ("note", "In a checkout: make lab")
    assert "the sidebar is not installed" in without.found
    assert doctor._lab().level == "ok"


def test_windows_is_refused_with_a_sentence(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")

    outcome = command("doctor")

    assert (outcome.code, outcome.out) == (2, "")
    assert "cannot run on Windows; use WSL" in outcome.err


def test_doctor_names_the_endpoint_without_its_secrets(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me:nobody-may-see@tea.example/v1?token=nor-this")
    monkeypatch.setenv("EXPLORACODER_MODEL", "brewer")
    named = command("doctor")
    monkeypatch.setenv("EXPLORACODER_MODEL", "embedded")
    embedded = command("doctor")

    assert "brewer at https://tea.example/v1" in named.out
    assert "EXPLORACODER_MODEL names the embedded model" in embedded.out
    assert not [word for word in ("nobody-may-see", "nor-this") if word in named.out + named.err]
