"""The task's files can be read, nothing but scratch can be written, and the rest is not seen."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exploracoder_kernel.launch_command import ENTRY
from exploracoder_kernel.sandbox import secrets as hidden_names
from exploracoder_kernel.sidecar import Sidecar

from .conftest import Choose, Look

ASK = """
import os
def outcome(action):
    try:
        return action()
    except OSError as error:
        return type(error).__name__
def read(path):
    return outcome(lambda: open(path).read())
def write(path):
    return outcome(lambda: open(path, 'a').close())
"""
REFUSED = ("FileNotFoundError", "PermissionError", "OSError", "NotADirectoryError")


def digest(folder: Path) -> str:
    """Of all names and contents in a folder."""
    sums = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        sums.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
    return sums.hexdigest()


async def test_inputs_are_read_by_relative_and_by_absolute_paths(
    look: Look, task: Path, value_of: Callable[..., Any]
) -> None:
    observation = await look(
        f"{ASK}read('input.txt'), read('data/more.txt'), read({str(task / 'input.txt')!r}), "
        "sorted(os.listdir())"
    )

    assert value_of(observation) == ("given", "more", "given", ["data", "input.txt"])


async def test_a_users_module_is_imported(look: Look, task: Path) -> None:
    (task / "mine.py").write_text("answer = 42\n")

    observation = await look("import mine\nmine.answer")

    assert observation.result == "42"


ATTEMPTS = (
    "open('input.txt', 'w')",
    "open('data/new.txt', 'w')",
    "os.remove('data/more.txt')",
    "os.rename('data/more.txt', 'data/other.txt')",
    "os.chmod('input.txt', 0o777)",
    "os.utime('input.txt', (0, 0))",
    "os.setxattr('input.txt', 'user.x', b'y')",
    "os.truncate('input.txt', 0)",
    "os.link('input.txt', 'link'), open('link', 'w')",
    "os.symlink('/', {task!r} + '/link')",
    "open({task!r} + '/new.txt', 'w')",
    "shutil.rmtree({task!r})",
    "subprocess.run(['rm', '-rf', {task!r}], check=True)",
    "subprocess.run(['sh', '-c', 'echo x > {task}/new.txt'], check=True)",
)
QUIETLY_REFUSED = ("chmod", "utime")  # said to have worked, where nothing else can be said
# In a folder for temporary files, a branch has a link to the task, which is its own to remove.
OF_ITS_OWN_LINKS = ("'-rf'",)


async def test_the_users_files_can_not_be_changed(boxed: Choose, task: Path) -> None:
    before = digest(task), os.stat(task / "input.txt")  # noqa: PTH116
    launcher = boxed().launcher
    async with Sidecar(sys.executable, task, launcher=launcher) as sidecar:
        await sidecar.run(sidecar.root, "import os, shutil, subprocess")
        for attempt in ATTEMPTS:
            branch = await sidecar.fork(sidecar.root)

            observation = await sidecar.run(branch, attempt.format(task=str(task)))

            after = digest(task), os.stat(task / "input.txt")  # noqa: PTH116
            is_quiet = any(word in attempt for word in (*QUIETLY_REFUSED, *OF_ITS_OWN_LINKS))
            assert observation.status == "error" or is_quiet, attempt
            assert after[0] == before[0], attempt
            assert (after[1].st_mode, after[1].st_mtime) == (before[1].st_mode, before[1].st_mtime)


async def test_new_files_stay_private(look: Look, task: Path) -> None:
    observation = await look("open('out.txt', 'w').write('mine')\nopen('out.txt').read()")

    assert observation.result == "'mine'"
    assert not (task / "out.txt").exists()


async def test_the_home_is_not_seen(look: Look, home: Path, value_of: Callable[..., Any]) -> None:
    observation = await look(
        f"{ASK}home = {str(home)!r}\n"
        "outcome(lambda: os.listdir(home)), read(home + '/notes.txt'), "
        "read(home + '/.ssh/id_rsa'), os.path.expanduser('~')"
    )

    *refusals, own = value_of(observation)
    assert set(refusals) <= set(REFUSED)
    assert own != str(home)


async def test_a_task_in_the_home_itself_shows_no_secrets(
    look: Look, home: Path, value_of: Callable[..., Any]
) -> None:
    (home / "project").mkdir()
    (home / "project" / ".env").write_text("KEY=secret")
    (home / "project" / ".env.example").write_text("KEY=")

    observation = await look(
        f"{ASK}[read(n) for n in ('notes.txt', '.ssh/id_rsa', '.aws/credentials', '.netrc', "
        "'.config/gh/hosts.yml', 'project/.env', 'project/.env.example')]",
        cwd=home,
    )

    notes, *secrets, example = value_of(observation)
    assert (notes, example) == ("secret", "KEY=")
    assert set(secrets) <= set(REFUSED)


async def test_what_a_home_hides_by_a_dot_is_seen_only_when_asked_for(
    look: Look, home: Path, value_of: Callable[..., Any]
) -> None:
    (home / ".tool").mkdir()
    (home / ".tool" / "settings").write_text("secret")
    (home / ".toolrc").write_text("secret")
    code = f"{ASK}[read(n) for n in ('.tool/settings', '.toolrc', 'notes.txt')]"

    observation = await look(code, cwd=home)
    with_input = await look(code, cwd=home, inputs=(home / ".tool",))

    assert set(value_of(observation)[:2]) <= set(REFUSED)
    assert value_of(with_input)[0] == "secret"
    assert value_of(with_input)[1] in REFUSED


async def test_secrets_deep_in_a_task_are_not_seen(
    look: Look, task: Path, value_of: Callable[..., Any]
) -> None:
    deep = task / "a" / "b" / "c" / "d"
    names = (".ssh/id_rsa", ".netrc", "server.pem", ".env", "client_secret_1.json", ".aws/config")
    names += ("pip.conf", "kaggle.json", ".git/config", ".git/modules/tea/config")
    for name in (*names, "special_tokens.json"):
        (deep / name).parent.mkdir(parents=True, exist_ok=True)
        (deep / name).write_text("secret")

    observation = await look(
        f"{ASK}[read('a/b/c/d/' + n) for n in {(*names, 'special_tokens.json')!r}]"
    )

    *secrets, tokens = value_of(observation)
    assert set(secrets) <= set(REFUSED)
    assert tokens == "secret"


async def test_what_is_not_looked_into_is_not_seen(
    look: Look, task: Path, value_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden_names, "_MOST", 2)
    (task / "later").mkdir()
    (task / "later" / "notes.txt").write_text("notes")

    observation = await look(f"{ASK}[read(n) for n in ('input.txt', 'later/notes.txt')]")

    given, later = value_of(observation)
    assert (given, later in REFUSED) == ("given", True)


async def test_a_folder_around_the_home_shows_none_of_it(
    look: Look, home: Path, task: Path, value_of: Callable[..., Any]
) -> None:
    observation = await look(
        f"{ASK}read('task/input.txt'), read('home/notes.txt'), read('home/.ssh/id_rsa')",
        cwd=home.parent,
    )

    text, *refusals = value_of(observation)
    assert text == "given"
    assert set(refusals) <= set(REFUSED)


async def test_links_lead_to_nothing_that_is_not_shown(
    look: Look, home: Path, task: Path, value_of: Callable[..., Any]
) -> None:
    (task / "key").symlink_to(home / ".ssh" / "id_rsa")
    (task / "folder").symlink_to(home)

    observation = await look(f"{ASK}read('key'), read('folder/notes.txt')")

    assert set(value_of(observation)) <= set(REFUSED)


async def test_links_named_like_secrets_lead_to_nothing_either(
    look: Look, home: Path, task: Path, value_of: Callable[..., Any]
) -> None:
    (task / "data" / "keys").write_text("secret")
    (task / ".env").symlink_to(task / "data" / "keys")
    (task / "one.pem").symlink_to(home / ".ssh" / "id_rsa")
    (task / "two.pem").symlink_to("nowhere")
    (task / "three.pem").symlink_to(os.devnull)
    (task.parent / "task-by-link").symlink_to(task)

    observation = await look(
        f"{ASK}sorted({{read('.env'), read('data/keys'), read('one.pem'), read('two.pem'),"
        f"read({str(task / 'data' / 'keys')!r}), write('/dev/null')}} - {{None, ''}})",
        cwd=task.parent / "task-by-link",
    )

    assert set(value_of(observation)) <= set(REFUSED)


async def test_what_a_link_with_a_secrets_name_leads_to_is_hidden_too(
    look: Look, task: Path, tmp_path: Path, value_of: Callable[..., Any]
) -> None:
    kept = ("repo.git/config", "keys/id", "shared/.env", "real/deep.txt")
    for name in kept:
        (task / name).parent.mkdir(exist_ok=True)
        (task / name).write_text("secret")
    (task / ".git").symlink_to(task / "repo.git")
    (task / ".ssh").symlink_to("keys")
    (task / ".aws").symlink_to("real")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / ".env").write_text("secret")
    (task / "lib").symlink_to(tmp_path / "lib")

    observation = await look(
        f"{ASK}[read(name) for name in {(*kept, '.git/config', 'lib/.env')!r}]",
        inputs=(task / "lib",),
    )

    assert set(value_of(observation)) - {""} <= set(REFUSED)


async def test_links_with_secrets_names_hide_nothing_that_is_everybodys_or_asked_for(
    look: Look, task: Path, monkeypatch: pytest.MonkeyPatch, value_of: Callable[..., Any]
) -> None:
    (task / "cacert.pem").symlink_to("/usr/bin/env")
    (task / ".aws").symlink_to("/usr/bin")
    (task / "certs.pem").write_text("asked for")
    (task / "ca.pem").symlink_to("certs.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(task / "ca.pem"))

    observation = await look(
        f"{ASK}os.path.getsize('/usr/bin/env') > 0, read('ca.pem'), read('certs.pem')"
    )

    assert value_of(observation) == (True, "asked for", "asked for")


async def test_a_secret_behind_a_link_that_cannot_be_followed_keeps_nothing_from_starting(
    look: Look, task: Path, value_of: Callable[..., Any]
) -> None:
    # As with a folder of somebody else's, which this test's user could be allowed to enter.
    (task / "one.pem").symlink_to("x" * 300)
    (task / ".git").symlink_to("x" * 300)

    assert value_of(await look(f"{ASK}read('input.txt')")) == "given"


async def test_more_inputs_can_be_read_and_not_written(
    look: Look, tmp_path: Path, value_of: Callable[..., Any]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "big.csv").write_text("a,b")
    path = str(tmp_path / "elsewhere" / "big.csv")

    without = await look(f"{ASK}read({path!r})")
    with_input = await look(
        f"{ASK}read({path!r}), write({path!r})", inputs=(tmp_path / "elsewhere",)
    )

    assert value_of(without) in REFUSED
    text, refusal = value_of(with_input)
    assert text == "a,b"
    assert refusal in REFUSED


async def test_a_task_and_an_input_are_seen_where_links_name_them(
    look: Look, task: Path, tmp_path: Path, value_of: Callable[..., Any]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "big.csv").write_text("a,b")
    (tmp_path / "by-link.csv").symlink_to(tmp_path / "elsewhere" / "big.csv")
    (tmp_path / "task-by-link").symlink_to(task)

    observation = await look(
        f"{ASK}read({str(tmp_path / 'by-link.csv')!r}), read('input.txt'), "
        f"read({str(tmp_path / 'task-by-link' / 'input.txt')!r})",
        cwd=tmp_path / "task-by-link",
        inputs=(tmp_path / "by-link.csv",),
    )

    assert value_of(observation) == ("a,b", "given", "given")


async def test_scratch_below_a_task_or_a_hidden_home_works(
    look: Look, home: Path, monkeypatch: pytest.MonkeyPatch, value_of: Callable[..., Any]
) -> None:
    (home / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(home / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    code = f"{ASK}open('out.txt', 'w').write('x'), read({str(home / '.netrc')!r})"

    around = await look(code, cwd=home.parent)
    itself = await look(code, cwd=home)
    below = await look(code, cwd=home / "tmp")

    for observation in (around, itself, below):
        count, refusal = value_of(observation)
        assert count == 1
        assert refusal in REFUSED


async def test_secrets_of_the_system_are_not_read(look: Look, value_of: Callable[..., Any]) -> None:
    """Even where the superuser starts it, whose files they are."""
    observation = await look(
        f"{ASK}[read(n) for n in ('/etc/shadow', '/etc/gshadow', '/etc/sudoers', "
        "'/etc/ssh/ssh_host_ed25519_key', '/root/.bashrc', '/proc/kcore', '/dev/mem', '/dev/sda')]"
    )

    assert set(value_of(observation)) <= set(REFUSED)


async def test_nothing_outside_scratch_is_written(
    look: Look, home: Path, tmp_path: Path, value_of: Callable[..., Any]
) -> None:
    (tmp_path / "other").mkdir()
    before = digest(home), digest(tmp_path / "other")
    targets = [
        "/etc/exploracoder-test",
        "/usr/lib/exploracoder-test",
        str(ENTRY.parent / "new.py"),
        str(Path(os.__file__).with_name("new.py")),
        "/proc/sys/vm/swappiness",
        "/proc/sys/kernel/core_pattern",
        "/sys/devices/system/cpu/cpu0/online",
    ]

    # A place in the machine's temporary folder may be one in the sandbox's own.
    elsewhere = [str(home / "new"), str(tmp_path / "other" / "new")]
    observation = await look(
        f"{ASK}_ = [write(n) for n in {elsewhere!r}]\n[write(n) for n in {targets!r}]"
    )

    assert set(value_of(observation)) <= set(REFUSED)
    assert (digest(home), digest(tmp_path / "other")) == before
    assert not [target for target in targets[:4] if os.path.exists(target)]  # noqa: ASYNC240


async def test_fonts_that_matplotlib_knows_are_brought_along(look: Look, home: Path) -> None:
    (home / ".cache" / "matplotlib").mkdir(parents=True)
    (home / ".cache" / "matplotlib" / "fontlist-v390.json").write_text("{}")
    (home / ".cache" / "matplotlib" / "other").write_text("secret")

    observation = await look("import os\nos.listdir(os.path.expanduser('~/.cache/matplotlib'))")

    assert observation.result == "['fontlist-v390.json']"


async def test_a_task_in_the_root_shows_no_more_than_others(
    look: Look, home: Path, value_of: Callable[..., Any]
) -> None:
    observation = await look(
        f"{ASK}read({str(home / 'notes.txt')!r}), read('etc/shadow')", cwd=Path("/")
    )

    assert set(value_of(observation)) <= set(REFUSED)


async def test_temporary_files_and_caches_are_scratch(
    look: Look, value_of: Callable[..., Any]
) -> None:
    observation = await look(
        "import os, tempfile\nfrom pathlib import Path\n"
        "with tempfile.NamedTemporaryFile() as file:\n    name = file.name\n"
        "(Path.home() / '.cache').mkdir(exist_ok=True)\n"
        "(Path.home() / '.cache' / 'x').write_text('y')\n"
        "name, str(Path.home()), os.getcwd()"
    )

    places = value_of(observation)
    assert places[0].startswith("/tmp/")
    assert all("exploracoder" in place for place in places[1:])
    assert not [place for place in places if os.path.exists(place)]  # noqa: ASYNC240


def test_many_folders_that_nobody_looked_into_are_hidden_by_those_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden_names, "_MOST", 4)
    monkeypatch.setattr(hidden_names, "_MOST_FOLDERS", 3)
    for name in "abcd":
        (tmp_path / "many" / name / "deep").mkdir(parents=True)
    (tmp_path / "few").mkdir()
    (tmp_path / "many" / ".env").write_text("secret")

    found = {str(path.relative_to(tmp_path)) for path in hidden_names.find(tmp_path)}

    assert found == {"many"}
