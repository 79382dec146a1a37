"""Where samples are run: in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from exploracoder.errors import InputError, SetupError

from exploracoder_bench.children import Children

ResultT = TypeVar("ResultT")

LOCAL = "local"
_DASK = "dask://"
_CONNECT_S = 20.0


@dataclass(frozen=True, slots=True)
class Pool:
    """An executor of ``concurrent.futures`` and how many samples it runs at a time."""

    executor: Executor
    width: int
    children: Children | None = None

    def submit(self, work: Callable[..., ResultT], *arguments: Any) -> Future[ResultT]:
        """Submit ``work``; processes that it starts here end with the pool."""
        if self.children is not None:
            work = partial(work, children=self.children)
        return self.executor.submit(work, *arguments)


@contextmanager
def open_pool(name: str, jobs: int) -> Iterator[Pool]:
    """Open a pool: ``local`` with up to ``jobs`` processes, or a cluster's ``dask://HOST:PORT``.

    No process started on this machine is left behind. A cluster's workers finish their current
    work, and its result is ignored. Raises InputError for another name, SetupError when the cluster
    cannot be reached.
    """
    if name == LOCAL:
        children = Children()
        executor = ThreadPoolExecutor(jobs, thread_name_prefix="bench")
        try:
            yield Pool(executor, jobs, children)
        finally:
            children.end()
            executor.shutdown(wait=True, cancel_futures=True)
    elif name.startswith(_DASK) and len(name) > len(_DASK):
        with _dask(name.removeprefix(_DASK)) as pool:
            yield pool
    else:
        raise InputError(f"--executor is 'local' or 'dask://HOST:PORT', not {name!r}.")


@contextmanager
def _dask(address: str) -> Iterator[Pool]:
    try:
        from distributed import Client
    except ImportError as error:
        raise SetupError(
            "For a Dask cluster Dask is needed, here and there: pip install 'exploracoder[bench]'"
        ) from error
    try:
        client = Client(f"tcp://{address}", timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        raise SetupError(
            f"No Dask scheduler answers at {address}: {error}. Start one with 'dask scheduler',"
            " and workers with 'dask worker'."
        ) from error
    with client:
        executor = client.get_executor()
        try:
            yield Pool(executor, max(1, sum(client.nthreads().values())))
        finally:
            executor.shutdown(wait=False)
