"""An index whose vectors are on a chroma server that a team shares: a real one, on loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from exploracoder_retrieval.catalog import Files
from exploracoder_retrieval.errors import IndexUnavailable
from exploracoder_retrieval.examples.kept import KeptExample
from exploracoder_retrieval.index import Index
from exploracoder_retrieval.search_filter import Filter
from ports import free_port

from .test_index import BREW, CountingEmbedder, make_harvest

MANY = {f"steep_{number}": f"Steep the leaves for {number} minutes." for number in range(2_500)}


class ChromaServer:
    """``chroma run`` on a folder; it can be killed and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1"]
        self._process = subprocess.Popen(
            [*command, "--port", str(self._port), "--path", str(self._folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("chroma run did not start")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def rows(self, **filters: Any) -> dict[str, Any]:
        """What it holds of its only collection, asked with chroma's own client.

        That is done in another process, with which the connections end that the client leaves open.
        """
        script = (
            "import chromadb, json, sys\n"
            "(one,) = chromadb.HttpClient('127.0.0.1', int(sys.argv[1])).list_collections()\n"
            "print(json.dumps(one.get(**json.loads(sys.argv[2]))))"
        )
        process = subprocess.run(
            [sys.executable, "-c", script, str(self._port), json.dumps(filters)],
            capture_output=True,
            text=True,
            check=True,
        )
        result: dict[str, Any] = json.loads(process.stdout)
        return result


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChromaServer]:
    running = ChromaServer(tmp_path / "server")
    yield running
    running.kill()


@pytest.fixture(scope="module")
def counting() -> CountingEmbedder:
    return CountingEmbedder()


def test_vectors_are_made_once_for_a_whole_team(
    server: ChromaServer, tmp_path: Path, counting: CountingEmbedder
) -> None:
    with Index.open(tmp_path / "one", counting, server.url) as one:
        one.update(make_harvest(BREW))
        first = one.search("hot water", None, 3)
    counting.texts.clear()

    with Index.open(tmp_path / "two", counting, server.url) as two:
        two.update(make_harvest(BREW))
        embedded = list(counting.texts)
        second = two.search("hot water", None, 3)

    assert embedded == []
    assert first == second
    assert not Files(tmp_path / "two").chroma.exists()


def test_the_server_knows_what_its_vectors_are_of(
    server: ChromaServer, tmp_path: Path, counting: CountingEmbedder
) -> None:
    with Index.open(tmp_path / "index", counting, server.url) as index:
        index.update(make_harvest(BREW, version="2"))
        inside = index.search("heat it", None, 5, only=Filter(inside="brew.Kettle"))
        classes = index.search("heat it", None, 5, only=Filter(kind="class"))

    methods = server.rows(where={"kind": "method"})
    assert methods["documents"] == ["brew.Kettle.boil Bring the water to the boil."]
    assert methods["metadatas"] == [
        {"library": "brew", "version": "2", "kind": "method", "module": ["brew", "brew.Kettle"]}
    ]
    assert [hit.doc.path for hit in inside] == ["brew.Kettle.boil"]
    assert [hit.doc.path for hit in classes] == ["brew.Kettle"]


def test_memory_works_beside_a_server_and_stays_on_the_machine(
    server: ChromaServer, tmp_path: Path, counting: CountingEmbedder
) -> None:
    mine = KeptExample(
        library="brew",
        version="1",
        source="exploration",
        title="Fill two cups",
        code="import brew\nbrew.pour(cups=2)",
        apis=("brew.pour",),
        origin="tea.ipynb",
        kept=datetime(2026, 1, 1, tzinfo=timezone.utc),
    )
    with Index.open(tmp_path / "index", counting, server.url) as index:
        index.update(make_harvest(BREW))
        index.examples.keep([mine])
        hits = index.search("fill two cups", None, 3)
        near = index.near_examples("brew", "fill two cups", hits)
        count = index.examples.forget("brew")
        after = index.near_examples("brew", "fill two cups", hits)

    assert [(one.title, one.is_kept) for one in near] == [("Fill two cups", True)]
    assert (count, after) == (1, ())
    rows = server.rows()
    assert sorted(text.split()[0] for text in rows["documents"]) == sorted(
        f"brew.{name}" for name in BREW
    )
    assert "cups=2" not in str(rows)


def test_two_clients_build_and_search_at_once(server: ChromaServer, tmp_path: Path) -> None:
    harvest = make_harvest(MANY)

    def work(name: str) -> list[str]:
        with Index.open(tmp_path / name, CountingEmbedder(), server.url) as index:
            index.update(make_harvest(BREW))
            index.update(harvest)
            return [hit.doc.path for hit in index.search("steep for 77 minutes", ["brew"], 3)]

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(work, ("one", "two"))

    assert one == two
    assert "brew.steep_77" in one


def test_a_server_that_is_killed_loses_nothing(
    server: ChromaServer, tmp_path: Path, counting: CountingEmbedder
) -> None:
    with Index.open(tmp_path / "index", counting, server.url) as index:
        index.update(make_harvest(BREW))
        before = index.search("hot water", None, 3)

        def kill(phase: str, done: int, total: int) -> None:
            if done < total:
                server.kill()

        with pytest.raises(IndexUnavailable, match=r"cannot be used .* server running\?"):
            index.update(make_harvest(MANY), kill)
        with pytest.raises(IndexUnavailable, match="server running"):
            index.search("hot water", None, 3)
        assert len(index.docs("brew")) == len(BREW)

        server.start()
        assert index.search("hot water", None, 3) == before
        index.update(make_harvest(MANY))
        paths = [hit.doc.path for hit in index.search("steep for 77 minutes", None, 3)]
        assert "brew.steep_77" in paths
