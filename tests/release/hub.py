"""``python tests/release/hub.py WHEEL``: two users of a JupyterHub explore at the same time.

For root: it makes two users, and removes them. Each has a server, a sandbox, and a model with a key
of their own; neither sees the other's files, key or kernels. It needs a Python that everybody may
run (``--python``), npm for the hub's proxy, and the package index. Exit code 1 when something does
not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from exploracoder.testing import ScriptedModelServer
from exploration.scripted import CONTEXT, NAMES_CHECK, TASK, TeaModel

_PACKAGES = Path(__file__).parents[1] / "exploration" / "packages"
_USERS = ("exploracoder-one", "exploracoder-two")
_ADMIN = secrets.token_hex()
_HUB, _PROXY, _API = 18000, 18001, 18081
_SECONDS = 120.0
_CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{hub}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.LocalAuthenticator.create_system_users = False
c.Spawner.cmd = ["{bin}/jupyterhub-singleuser"]
c.Spawner.environment = {{
    "OPENAI_BASE_URL": lambda spawner: {urls!r}[spawner.user.name],
    "OPENAI_API_KEY": lambda spawner: {keys!r}[spawner.user.name],
    "EXPLORACODER_MODEL": "scripted",
    "PATH": "{bin}:/usr/bin:/bin",
}}
c.JupyterHub.services = [{{"name": "trial", "api_token": "{admin}"}}]
c.JupyterHub.load_roles = [
    {{"name": "trial", "services": ["trial"], "scopes": ["admin:users", "admin:servers", "tokens"]}}
]
"""
# What code of an exploration must not find, wherever it looks.
_PRIVATE = """
import os, pathlib
assert not any("KEY" in name or "TOKEN" in name for name in os.environ), sorted(os.environ)
found = []
for place in [pathlib.Path("{other}")] + sorted(pathlib.Path("/proc").glob("[0-9]*/environ")):
    try:
        seen = sorted(place.iterdir()) if place.is_dir() else place.read_bytes()
    except OSError:
        continue
    if place.name != "environ" and seen or place.name == "environ" and b"key-of" in seen:
        found.append(str(place))
assert not found, found
"""


@contextmanager
def _users() -> Iterator[None]:
    user_names = []
    try:
        for name in _USERS:
            subprocess.run(["useradd", "--create-home", name], check=True)
            user_names.append(name)
            home = Path(pwd.getpwnam(name).pw_dir)
            shutil.copytree(_PACKAGES, home / "project")
            subprocess.run(["chown", "-R", f"{name}:", home], check=True)
            home.chmod(0o700)
        yield
    finally:
        for name in user_names:
            subprocess.run(["pkill", "-KILL", "-u", name], check=False)
            time.sleep(0.5)
            subprocess.run(["userdel", "--remove", name], check=False, capture_output=True)


def _installed(folder: Path, python: str, wheel: Path) -> Path:
    subprocess.run([python, "-m", "venv", folder / "env"], check=True)
    pip = [folder / "env/bin/python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, f"{wheel}[lab]", "jupyterhub"], check=True)
    npm = ["npm", "install", "--silent", "--prefix", folder / "proxy", "configurable-http-proxy"]
    subprocess.run(npm, check=True)
    return folder / "env" / "bin"


@contextmanager
def _hub(folder: Path, programs: Path, models: dict[str, ScriptedModelServer]) -> Iterator[None]:
    config = folder / "jupyterhub_config.py"
    config.write_text(
        _CONFIG.format(
            hub=_HUB,
            proxy=_PROXY,
            api=_API,
            admin=_ADMIN,
            bin=programs,
            urls={name: model.base_url for name, model in models.items()},
            keys={name: f"key-of-{name}" for name in models},
        ),
        encoding="utf-8",
    )
    config.chmod(0o600)
    (folder / "state").mkdir(mode=0o700)
    with (folder / "hub.log").open("wb") as log:
        hub = subprocess.Popen(
            [programs / "jupyterhub", "--config", config],
            cwd=folder / "state",
            env={"PATH": f"{folder}/proxy/node_modules/.bin:{programs}:{os.environ['PATH']}"},
            stdout=log,
            stderr=log,
        )
        try:
            yield
        finally:
            hub.terminate()
            hub.wait(30)


class _User:
    """Who asks a server as a tab does."""

    def __init__(self, name: str, token: str) -> None:
        self.name = name
        self._headers = {"Authorization": f"token {token}"}
        self._http = httpx.AsyncClient(timeout=_SECONDS, trust_env=False)

    async def ask(self, method: str, path: str, body: Any = None, of: str = "") -> httpx.Response:
        """Send a request to a server, by default one's own."""
        url = f"http://127.0.0.1:{_HUB}/user/{of or self.name}/{path}"
        return await self._http.request(method, url, headers=self._headers, json=body)

    async def explore(self, other: str) -> dict[str, Any]:
        """Explore to the end; the check also looks for what is the other's."""
        answer = await self.ask(
            "POST",
            "exploracoder/api/explorations",
            {
                "task": TASK,
                "libraries": ["./project/tealeaf"],
                "context": CONTEXT,
                "check": NAMES_CHECK + _PRIVATE.format(other=pwd.getpwnam(other).pw_dir),
                "mode": "auto",
                "profile": "standard",
            },
        )
        answer.raise_for_status()
        state: dict[str, Any] = answer.json()
        deadline = time.monotonic() + _SECONDS
        while state["exploration"]["status"] not in ("solved", "failed"):
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.name}: not done after {_SECONDS:.0f} s: {state}")
            await asyncio.sleep(0.5)
            path = f"exploracoder/api/explorations/{state['exploration']['id']}"
            state = (await self.ask("GET", path)).json()
        return state


async def _started(http: httpx.AsyncClient, name: str) -> _User:
    await http.post(f"users/{name}")
    (await http.post(f"users/{name}/server")).raise_for_status()
    deadline = time.monotonic() + _SECONDS
    while not (await http.get(f"users/{name}")).json()["servers"].get("", {}).get("ready"):
        if time.monotonic() > deadline:
            raise SystemExit(f"The server of {name} did not start.")
        await asyncio.sleep(0.5)
    token = (await http.post(f"users/{name}/tokens", json={})).json()["token"]
    return _User(name, token)


async def _tried(models: dict[str, ScriptedModelServer]) -> None:
    admin = httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{_HUB}/hub/api/",
        headers={"Authorization": f"token {_ADMIN}"},
        timeout=_SECONDS,
        trust_env=False,
    )
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            if (await admin.get("")).status_code == 200:
                break
        except httpx.HTTPError:
            pass
        if time.monotonic() > deadline:
            raise SystemExit("The hub did not start.")
        await asyncio.sleep(0.5)
    one, two = [await _started(admin, name) for name in _USERS]
    states = await asyncio.gather(one.explore(two.name), two.explore(one.name))
    for user, state in zip((one, two), states, strict=True):
        status = (await user.ask("GET", "exploracoder/api/status")).json()
        outcome = state["exploration"]["status"]
        _say(outcome == "solved", f"{user.name} explores: {outcome}, {status['sandbox']}", state)
    for user, other in ((one, two), (two, one)):
        codes = [
            (await user.ask("GET", path, of=other.name)).status_code
            for path in ("api/contents", "api/kernels", "exploracoder/api/explorations")
        ]
        _say(set(codes) <= {302, 403, 404}, f"{user.name} at the other's server: {codes}")
        kernels = {each["id"] for each in (await user.ask("GET", "api/kernels")).json()}
        others = {each["id"] for each in (await other.ask("GET", "api/kernels")).json()}
        _say(kernels and not kernels & others, f"{user.name} sees {len(kernels)} kernels")
        keys = _with_a_key(user.name)
        _say(not keys, f"{user.name}'s home: files with a key: {len(keys)}", keys)
        tokens = {request.headers.get("authorization") for request in models[user.name].requests}
        _say(
            tokens == {f"Bearer key-of-{user.name}"}, f"{user.name}'s model was asked with {tokens}"
        )


def _with_a_key(user: str) -> list[str]:
    """The files in a user's home that hold anybody's key."""
    files = Path(pwd.getpwnam(user).pw_dir).rglob("*")
    own = (file for file in files if file.is_file() and not file.is_symlink())
    return [str(file) for file in own if b"key-of-" in file.read_bytes()]


def _say(holds: object, what: str, more: object = "") -> None:
    print(f"{'ok    ' if holds else 'FAILED'}  {what}", flush=True)  # noqa: T201
    if not holds:
        raise SystemExit(f"{more}"[:3000] or 1)


def main() -> None:
    """Make the users, the environment and the hub, and try it."""
    parser = argparse.ArgumentParser(prog="python tests/release/hub.py", description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", default="/usr/bin/python3", help="default: %(default)s")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("It makes users, which only root can.")
    if not arguments.wheel.is_file():
        parser.error(f"There is no wheel {arguments.wheel}: make dist builds one.")
    if shutil.which("npm") is None:
        parser.error("It needs npm, to fetch the hub's proxy.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        folder.chmod(0o755)
        programs = _installed(folder, arguments.python, arguments.wheel.resolve())
        stack.enter_context(_users())
        models = {
            name: stack.enter_context(ScriptedModelServer(TeaModel(), require_key=f"key-of-{name}"))
            for name in _USERS
        }
        stack.enter_context(_hub(folder, programs, models))
        try:
            asyncio.run(_tried(models))
        except BaseException:
            print((folder / "hub.log").read_text()[-4000:], file=sys.stderr)  # noqa: T201
            raise


if __name__ == "__main__":
    main()
