"""The parts of the Jupyter server that we use: public methods only, as gateways have them too."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from logging import Logger
from pathlib import Path
from typing import Any

from exploracoder.errors import InputError, SetupError
from exploracoder.texts import Text
from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from exploracoder_jupyter import paths
from exploracoder_jupyter.rooms import Rooms


@dataclass(frozen=True, slots=True)
class Services:
    """The server's managers; ``is_remote`` when kernels run behind a gateway."""

    contents: Any
    kernels: Any
    sessions: Any
    kernel_specs: Any
    log: Logger
    root: Path
    is_remote: bool
    rooms: Rooms

    async def start_kernel(self, name: str, path: str, env: Mapping[str, str]) -> str:
        """Start a kernel for the notebook at ``path``, and wait until it is ready.

        Raises SetupError when there is no such kernel or it does not start.
        """
        from jupyter_client.kernelspec import NoSuchKernel

        try:
            folder = await ensure_async(self.contents.get_kernel_path(path=path))
            # A gateway's manager adds what it needs of our environment, and logs what it is given.
            kernel_env = dict(env) if self.is_remote else {**os.environ, **env}
            start = self.kernels.start_kernel(kernel_name=name, path=folder, env=kernel_env)
            kernel_id = str(await ensure_async(start))
        except (NoSuchKernel, KeyError) as error:
            raise SetupError(
                f"Jupyter knows no kernel {name!r}. Install it: exploracoder sidecar install."
            ) from error
        except (HTTPError, OSError, RuntimeError) as error:
            raise SetupError(Text("The scratch kernel could not be started: %1", error)) from error
        if getattr(self.kernels, "use_pending_kernels", False) and not self.is_remote:
            # Pending kernels: the manager returns before the kernel is ready.
            ready = self.kernels.get_kernel(kernel_id).ready
            await (ready if isinstance(ready, asyncio.Future) else asyncio.wrap_future(ready))
        return kernel_id

    async def stop_kernel(self, kernel_id: str) -> None:
        """Shut down a kernel; one that has already ended is not an error."""
        if kernel_id not in self.kernels:
            return
        try:
            await ensure_async(self.kernels.shutdown_kernel(kernel_id))
        except (HTTPError, KeyError, OSError, RuntimeError) as error:
            self.log.warning("Kernel %s could not be shut down: %s", kernel_id, error)

    async def list_sessions(self) -> list[dict[str, Any]]:
        """The server's sessions, which say which notebook has which kernel."""
        return list(await ensure_async(self.sessions.list_sessions()))

    async def bind(self, path: str, kernel_id: str) -> None:
        """Bind the kernel to the notebook at ``path``; its previous kernel is shut down, as when a
        user chooses another."""
        sessions = await self.list_sessions()
        session = next((one for one in sessions if one["path"] == path), None)
        if session is None:
            name = paths.name_of(path)
            await ensure_async(
                self.sessions.create_session(
                    path=path, name=name, type="notebook", kernel_id=kernel_id
                )
            )
            return
        before = (session.get("kernel") or {}).get("id")
        if before == kernel_id:
            return
        await ensure_async(self.sessions.update_session(session["id"], kernel_id=kernel_id))
        users = [one for one in sessions if (one.get("kernel") or {}).get("id") == before]
        if before is not None and len(users) == 1:
            await self.stop_kernel(before)

    async def unbind(self, kernel_id: str) -> None:
        """Shut down a kernel and delete the sessions that use it."""
        for session in await self.list_sessions():
            if (session.get("kernel") or {}).get("id") == kernel_id:
                try:
                    await ensure_async(self.sessions.delete_session(session["id"]))
                except (HTTPError, KeyError) as error:
                    self.log.info("Session %s is gone already: %s", session["id"], error)
        await self.stop_kernel(kernel_id)

    async def path_of_kernel(self, kernel_id: str) -> str | None:
        """The current path of the notebook that has a kernel, which may have been renamed."""
        for session in await self.list_sessions():
            if (session.get("kernel") or {}).get("id") == kernel_id:
                return str(session["path"])
        return None

    async def kernel_of_path(self, path: str) -> str | None:
        """The id of a notebook's kernel; None if it has none."""
        for session in await self.list_sessions():
            if session["path"] == path:
                return (session.get("kernel") or {}).get("id")
        return None

    async def is_file(self, path: str) -> bool:
        """Whether there is a file at a path."""
        return bool(await ensure_async(self.contents.file_exists(path)))

    async def is_folder(self, path: str) -> bool:
        """Whether there is a folder at a path; the root's path is empty."""
        return bool(await ensure_async(self.contents.dir_exists(path)))

    def contents_roots(self) -> tuple[str, ...]:
        """The root of the files in the contents, as configured and with links resolved.

        Empty if the contents are not this machine's files, or the kernels are on another one.
        """
        from jupyter_server.services.contents.fileio import FileManagerMixin

        if self.is_remote or not isinstance(self.contents, FileManagerMixin):
            return ()
        roots = self.root.absolute(), self.root.resolve()
        return tuple(dict.fromkeys(map(str, roots)))

    async def spec_argv(self, kernel_name: str | None) -> tuple[str, list[str]]:
        """The language and command of a kernelspec, by default the server's default one.

        Raises InputError when there is no such kernelspec.
        """
        from jupyter_client.kernelspec import NoSuchKernel

        name = kernel_name or self.kernels.default_kernel_name
        try:
            spec = await ensure_async(self.kernel_specs.get_kernel_spec(name))
        except (NoSuchKernel, KeyError, HTTPError) as error:
            raise InputError(Text("This server has no kernel %1.", repr(name))) from error
        if isinstance(spec, dict):
            # A gateway returns the JSON as received.
            fields = spec.get("spec", spec)
            return str(fields.get("language", "")), list(fields.get("argv", ()))
        return str(spec.language), list(spec.argv)

    async def spec_names(self) -> list[str]:
        """The names of all kernelspecs."""
        try:
            return list(await ensure_async(self.kernel_specs.get_all_specs()))
        except HTTPError:
            return []


def services_of(server: Any) -> Services:
    """Collect the managers of a running Jupyter server."""
    return Services(
        contents=server.contents_manager,
        kernels=server.kernel_manager,
        sessions=server.session_manager,
        kernel_specs=server.kernel_spec_manager,
        log=server.log,
        root=Path(server.root_dir),
        is_remote=bool(server.gateway_config.gateway_enabled),
        rooms=Rooms(lambda: server.extension_manager.extension_apps),
    )
