"""Vectors of the model that is installed, and of an endpoint."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np
import pytest
from exploracoder_retrieval.embeddings import EndpointEmbedder, MiniLmEmbedder
from exploracoder_retrieval.errors import EmbeddingError
from http_answers import saying, serving

KEY = "sk-secret-of-the-test"


def answer_to(body: dict[str, Any], authorization: str) -> tuple[int, dict[str, Any]]:
    """Status and content; the model's name says how the endpoint behaves."""
    if authorization != f"Bearer {KEY}":
        return 401, {"error": {"message": f"bad key {authorization}"}}
    if body["model"] == "unknown":
        return 404, {"error": {"message": "no such model"}}
    if body["model"] == "silent":
        return 200, {"object": "list", "model": "silent", "data": []}
    vectors = [[3.0, float(len(text))] for text in body["input"]]
    data = [
        {"object": "embedding", "index": number, "embedding": vector}
        for number, vector in reversed(list(enumerate(vectors)))
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return 200, {"object": "list", "model": "m", "data": data, "usage": usage}


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of one, and what it was asked."""
    requests = list[dict[str, Any]]()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        requests.append(json.loads(handler.rfile.read(int(handler.headers["Content-Length"]))))
        status, content = answer_to(requests[-1], handler.headers["Authorization"])
        saying(json.dumps(content).encode(), status, Content_Type="application/json")(handler)

    with serving(answer) as url:
        yield url, requests


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


def test_what_an_address_has_of_a_password_and_a_query_is_sent_and_not_shown() -> None:
    paths: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        paths.append(handler.path)
        handler.rfile.read(int(handler.headers["Content-Length"]))
        saying(b"{}", Content_Type="application/json")(handler)

    with serving(answer) as url:
        address = url.replace("://", "://me:s3cret@") + "/?key=s3cret"
        embedder = EndpointEmbedder(address, KEY, model="m")
        with pytest.raises(EmbeddingError, match="answered something else") as excinfo:
            embedder.embed(["x"])

    assert embedder.name == EndpointEmbedder(url, KEY, model="m").name == f"m@{url}"
    assert "s3cret" not in str(excinfo.value)
    assert paths == [f"{url[url.index('/', 8) :]}/embeddings?key=s3cret"]


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


def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_proxy_is_asked_for_other_machines_only(
    endpoint: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, requests = endpoint
    without_proxies(monkeypatch)
    monkeypatch.setenv("HTTP_PROXY", url)
    EndpointEmbedder("http://embeddings.example/v1", KEY, model="m").embed(["tea"])
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    EndpointEmbedder(url, KEY, model="m").embed(["pot"])

    assert [request["input"] for request in requests] == [["tea"], ["pot"]]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("HTTPS_PROXY", "sox://me:s3cret@127.0.0.1:1", "The proxy that .* cannot be used"),
        ("SSL_CERT_FILE", "/nowhere.pem", "SSL_CERT_FILE names /nowhere.pem"),
    ],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_said(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_proxies(monkeypatch)
    monkeypatch.setenv(name, value)

    with pytest.raises(EmbeddingError, match=message) as excinfo:
        EndpointEmbedder("https://embeddings.example/v1", KEY, model="m").embed(["tea"])

    assert "s3cret" not in str(excinfo.value)
