"""Which sandbox is taken, what is said of it, and what happens where there is none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.errors import InterpreterError, SandboxUnavailable, SidecarError
from exploracoder_kernel.sandbox import Consent, advice, choose, seccomp
from exploracoder_kernel.sandbox.bubblewrap import BubblewrapLauncher, Program
from exploracoder_kernel.sidecar import Sidecar

from .conftest import Choose


@pytest.fixture
def consent(tmp_path: Path) -> Consent:
    return Consent(tmp_path / "config" / "consent.json")


def chosen(task: Path, level: Any = "auto", **more: Any) -> Any:
    return choose(level, python=sys.executable, cwd=task, **more)


def test_auto_is_strict_and_says_what_it_keeps_code_from(boxed: Choose, mechanism: str) -> None:
    choice = boxed("auto")

    assert (choice.level, choice.mechanism) == ("strict", mechanism)
    assert "no network" in choice.reason
    assert str(choice) == f"strict ({mechanism})"


def test_network_says_that_services_of_this_machine_are_reached(boxed: Choose) -> None:
    choice = boxed("network")

    assert choice.level == "network"
    assert "services that listen on it" in choice.reason


def test_landlock_says_what_it_can_not_hide(task: Path) -> None:
    try:
        choice = chosen(task, mechanisms=("landlock",))
    except SandboxUnavailable as error:
        pytest.skip(error.missing)

    assert "see which processes run on this machine" in choice.reason


def test_without_bubblewrap_landlock_is_taken_and_bubblewrap_advised(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        choice = chosen(task)
    except SandboxUnavailable as error:
        pytest.skip(error.missing)

    assert choice.mechanism == "landlock"
    assert "apt install bubblewrap" in choice.reason


def test_a_bubblewrap_that_does_not_work_is_quoted(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:/usr/bin:/bin")

    with pytest.raises(SandboxUnavailable) as refusal:
        chosen(task, mechanisms=("bubblewrap",), consent=Consent(tmp_path / "none"))

    assert "does not work here (bwrap: No permissions to create namespace)" in str(refusal.value)


def test_without_any_the_error_says_how_to_go_on(task: Path, consent: Consent) -> None:
    with pytest.raises(SandboxUnavailable) as refusal:
        chosen(task, mechanisms=(), consent=consent)

    assert "--sandbox off" in str(refusal.value)
    assert "exploracoder doctor --allow-no-sandbox" in str(refusal.value)


def test_consent_is_remembered_for_auto_and_can_be_taken_back(task: Path, consent: Consent) -> None:
    consent.give()

    again = Consent(consent.file)
    choice = chosen(task, mechanisms=(), consent=again)
    assert (choice.level, choice.mechanism) == ("off", "none")
    assert choice.reason.startswith("You agreed to go on without")

    again.take_back()
    with pytest.raises(SandboxUnavailable):
        chosen(task, mechanisms=(), consent=consent)


@pytest.mark.parametrize("level", ["strict", "network"])
def test_consent_does_not_replace_a_level_that_was_insisted_on(
    task: Path, consent: Consent, level: str
) -> None:
    consent.give()

    with pytest.raises(SandboxUnavailable):
        chosen(task, level, mechanisms=(), consent=consent)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"runs_without_sandbox": "yes"}', "\0"])
def test_a_file_that_says_something_else_is_no_consent(consent: Consent, text: str) -> None:
    consent.file.parent.mkdir()
    consent.file.write_text(text)

    assert not consent.is_given()


async def test_off_runs_in_the_users_folder(task: Path) -> None:
    launcher = chosen(task, "off").launcher

    async with Sidecar(sys.executable, task, launcher=launcher) as sidecar:
        await sidecar.run(sidecar.root, "open('out.txt', 'w').write('kept')")

    assert (task / "out.txt").read_text() == "kept"


def test_a_missing_input_folder_or_interpreter_is_named(task: Path) -> None:
    with pytest.raises(SidecarError, match=r"There is no .*/nowhere"):
        chosen(task / "nowhere")
    with pytest.raises(SidecarError, match=r"There is no .*/data\.csv"):
        chosen(task, inputs=[task / "data.csv"])
    with pytest.raises(InterpreterError, match="did not start as Python"):
        choose(python="/bin/true", cwd=task)


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns=1", "AppArmor"),
        ("kernel/unprivileged_userns_clone=0", "kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces=0", "user.max_user_namespaces"),
        ("", "container"),
    ],
)
def test_the_advice_fits_the_kernels_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, word: str
) -> None:
    name, _, value = setting.partition("=")
    if name:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(f"{value}\n")
    monkeypatch.setattr(advice, "_KERNEL_SETTINGS", tmp_path)

    assert word in advice.about_bubblewrap("bwrap: no permissions")


async def test_a_first_branch_that_ends_before_it_is_confined_is_started_once_more(
    boxed: Choose, task: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    choice, compile_filters = boxed("strict"), seccomp.compiled

    def broken_once(**options: bool) -> dict[str, Any]:
        monkeypatch.setattr(seccomp, "compiled", compile_filters)
        return {**compile_filters(**options), "programs": ["A"]}

    monkeypatch.setattr(seccomp, "compiled", broken_once)
    async with Sidecar(cwd=task, launcher=choice.launcher) as sidecar:
        assert (await sidecar.run(sidecar.root, "1 + 1")).result == "2"

    assert "it ended early, with exit code 1." in caplog.text
    assert "Starting once more." in caplog.text


async def test_a_bubblewrap_that_fails_to_start_anything_is_named_with_what_to_do(
    task: Path, caplog: pytest.LogCaptureFixture
) -> None:
    script = task / "bwrap"
    script.write_text("#!/bin/sh\necho 'bwrap: no room for it' >&2\nexit 1\n")
    script.chmod(0o755)
    launcher = BubblewrapLauncher(Program(str(script), False), has_network=False)

    with pytest.raises(SandboxUnavailable, match=r"bwrap: no room for it\. Try again") as caught:
        async with Sidecar(cwd=task, launcher=launcher):
            pass

    assert "`--sandbox off` for once" in str(caught.value)
    assert caplog.text.count("Starting once more.") == 2
