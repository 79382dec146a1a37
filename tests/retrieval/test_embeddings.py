"""Vectors of the model that is installed, and of an endpoint."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from exploracoder_retrieval.embeddings import EndpointEmbedder, MiniLmEmbedder
from exploracoder_retrieval.errors import EmbeddingError

KEY = "sk-secret-of-the-test"


class _Endpoint(BaseHTTPRequestHandler):
    """Speaks /embeddings; the model's name says how it behaves."""

    requests: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).requests.append(body)
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self._answer(401, {"error": {"message": "bad key " + self.headers["Authorization"]}})
        elif body["model"] == "unknown":
            self._answer(404, {"error": {"message": "no such model"}})
        elif body["model"] == "silent":
            self._answer(200, {"object": "list", "model": "silent", "data": []})
        else:
            vectors = [[3.0, float(len(text))] for text in body["input"]]
            data = [
                {"object": "embedding", "index": number, "embedding": vector}
                for number, vector in reversed(list(enumerate(vectors)))
            ]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            self._answer(200, {"object": "list", "model": "m", "data": data, "usage": usage})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    _Endpoint.requests = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", _Endpoint.requests
    server.shutdown()
    thread.join()
    server.server_close()


def test_related_texts_are_nearer_than_unrelated_ones(embedder: MiniLmEmbedder) -> None:
    query, near, far = embedder.embed(
        ["read a table from a file", "read_csv: parse a CSV file into a table", "play a sound"]
    )

    assert query @ near > query @ far + 0.2


def test_vectors_have_length_one_and_keep_the_order_of_their_texts(
    embedder: MiniLmEmbedder,
) -> None:
    texts = ["a much longer text about the weather in spring", "short", "", "word " * 500]

    together = embedder.embed(texts)

    assert together.shape == (4, 384)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.all(np.sum(together * alone, axis=1) > 0.98)


def test_the_model_is_loaded_once_and_let_go_with_its_last_user() -> None:
    one, other = MiniLmEmbedder(threads=3), MiniLmEmbedder(threads=3)
    one.embed(["tea"])
    other.embed(["coffee"])

    assert one._model is other._model
    model_ref = weakref.ref(one._model)
    del one, other
    assert model_ref() is None


def test_no_text_gives_no_vector(embedder: MiniLmEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_an_endpoint_is_asked_in_batches_and_its_vectors_are_normalised(
    endpoint: tuple[str, list[dict[str, Any]]],
) -> None:
    url, requests = endpoint
    embedder = EndpointEmbedder(url, KEY, model="m", batch_size=2)

    vectors = embedder.embed(["aaaa", "", "c"])

    np.testing.assert_allclose(vectors[0], [0.6, 0.8], atol=1e-6)
    assert vectors.shape == (3, 2)
    assert [request["input"] for request in requests] == [["aaaa", " "], ["c"]]


def test_an_endpoint_tells_the_length_of_its_vectors(
    endpoint: tuple[str, list[dict[str, Any]]],
) -> None:
    assert EndpointEmbedder(endpoint[0], KEY, model="m").dimensions == 2


@pytest.mark.parametrize(
    ("key", "model", "message"),
    [
        ("sk-wrong", "m", "rejected the API key"),
        (KEY, "unknown", "does not know the model unknown"),
        (KEY, "silent", "0 embeddings for 1 texts"),
    ],
)
def test_an_endpoint_that_refuses_is_explained_without_the_key(
    key: str, model: str, message: str, endpoint: tuple[str, list[dict[str, Any]]]
) -> None:
    with pytest.raises(EmbeddingError, match=message) as excinfo:
        EndpointEmbedder(endpoint[0], key, model=model).embed(["x"])

    assert key not in str(excinfo.value)


def test_an_endpoint_that_is_not_there_is_explained() -> None:
    embedder = EndpointEmbedder("http://127.0.0.1:9/v1", KEY, model="m", timeout_s=2)

    with pytest.raises(EmbeddingError, match="cannot be reached"):
        embedder.embed(["x"])
