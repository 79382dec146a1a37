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
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).requests.append(asked)
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self._answer(401, {"error": {"message": "bad key " + self.headers["Authorization"]}})
        elif asked["model"] == "unknown":
            self._answer(404, {"error": {"message": "no such model"}})
        elif asked["model"] == "silent":
            self._answer(200, {"object": "list", "model": "silent", "data": []})
        else:
            vectors = [[3.0, float(len(text))] for text in asked["input"]]
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
    loaded = weakref.ref(one._model)
    del one, other
    assert loaded() is None


def test_parts_of_a_short_text_are_read_alone(embedder: MiniLmEmbedder) -> None:
    queries = [("He drew money from the bank, then ate", "money from the bank", "ate"), ("tea",)]

    found = embedder.embed_parts(queries)

    texts = [part for query in queries for part in query]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.all(np.sum(found * alone, axis=1) > 0.98)


def test_parts_of_a_long_text_are_read_within_it_and_in_its_order(
    embedder: MiniLmEmbedder,
) -> None:
    money = "He opened an account with the lender and paid in cash, " * 6
    river = "They rowed downstream and then fished from the grass, " * 6
    banks = [(f"{story} at the bank, and left", "at the bank", "left") for story in (money, river)]

    found = embedder.embed_parts(banks)

    whole, place = found[[0, 3]], found[[1, 4]]
    assert found.shape == (6, 384)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    assert place[0] @ place[1] < 0.9
    assert place[0] @ whole[0] > place[0] @ whole[1]
    assert place[1] @ whole[1] > place[1] @ whole[0]


def test_a_part_behind_the_cut_is_read_alone(embedder: MiniLmEmbedder) -> None:
    text = "word " * 300 + "boil the water"

    whole, part = embedder.embed_parts([(text, "boil the water")])

    assert part @ embedder.embed(["boil the water"])[0] > 0.99
    assert whole @ part < 0.9


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


def test_an_endpoint_is_sent_a_query_and_its_parts(
    endpoint: tuple[str, list[dict[str, Any]]],
) -> None:
    url, requests = endpoint

    EndpointEmbedder(url, KEY, model="m").embed_parts([("a, b", "a", "b"), ("c",)])

    assert [request["input"] for request in requests] == [["a, b", "a", "b", "c"]]


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
    with pytest.raises(EmbeddingError, match=message) as raised:
        EndpointEmbedder(endpoint[0], key, model=model).embed(["x"])

    assert key not in str(raised.value)


def test_an_endpoint_that_is_not_there_is_explained() -> None:
    embedder = EndpointEmbedder("http://127.0.0.1:9/v1", KEY, model="m", timeout_s=2)

    with pytest.raises(EmbeddingError, match="cannot be reached"):
        embedder.embed(["x"])
