"""Texts to vectors: a small model that comes with the installation, or an endpoint."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from exploracoder_retrieval.errors import EmbeddingError
from exploracoder_retrieval.minilm import LoadedModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# Parts of texts of at most so many tokens are read alone.
_READ_ALONE = 64
# The longest text of a batch has at most so many times the tokens of the shortest.
_PADDING = 1.5


class Embedder(Protocol):
    """Turns texts into vectors that are compared by their inner product."""

    @property
    def name(self) -> str:
        """Which vectors these are; an index is bound to it."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (len(texts), dimensions), each row of length one."""

    def embed_parts(self, queries: Sequence[Sequence[str]]) -> Vectors:
        """As `embed`, a row for each string of each query, all in order.

        A query is a text, followed by parts of it as they stand in it one after another.
        """


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with int8 weights on onnxruntime: nothing is downloaded at run time.

    Texts are padded to the longest of their batch only, which makes one short query about fifty
    times cheaper than padding to the model's limit. All instances of a process share one model,
    which takes a quarter of a second and 100 MB to load.
    """

    name = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    max_tokens = 128

    def __init__(self, *, batch_size: int = 64, threads: int | None = None) -> None:
        self._batch_size = batch_size
        self._threads = threads or os.cpu_count() or 1

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Mean of the token vectors, normalised; longer texts are cut at 128 tokens.

        Raises:
            EmbeddingError: the model or its vocabulary is missing or is not the expected file.
        """
        return self.embed_parts([(text,) for text in texts])

    def embed_parts(self, queries: Sequence[Sequence[str]]) -> Vectors:
        """As `embed`; parts of a long text are means of their own tokens, read within it.

        So they cost nothing more. Parts of a short text, with which more is found when they are
        read alone, and those behind the first 128 tokens, are read alone.

        Raises:
            EmbeddingError: as for `embed`.
        """
        import numpy as np

        vectors = np.zeros((sum(map(len, queries)), self.dimensions), dtype=np.float32)
        if not queries:
            return vectors
        model = self._model
        texts = self._read(queries)
        for rows in _batches([len(each.ids) for each in texts], self._batch_size):
            batch = [texts[row] for row in rows]
            for each, pooled in zip(batch, _pool(model.session, batch), strict=True):
                vectors[each.rows] = pooled
        return vectors

    def _read(self, queries: Sequence[Sequence[str]]) -> list[_Text]:
        """What is given to the model: the queries' texts, then the parts that are read alone."""
        encode = self._model.tokenizer.encode_batch
        found, single, row = [], [], 0
        for (text, *parts), encoding in zip(
            queries, encode([query[0] for query in queries]), strict=True
        ):
            read = _Text(encoding.ids, [slice(None)], [row])
            for number, span in enumerate(_spans(text, parts), start=1):
                tokens = _tokens(encoding, span) if len(encoding.ids) > _READ_ALONE else None
                if tokens:
                    read.tokens.append(tokens)
                    read.rows.append(row + number)
                else:
                    single.append((parts[number - 1], row + number))
            found.append(read)
            row += 1 + len(parts)
        alone = encode([part for part, _ in single])
        return found + [
            _Text(each.ids, [slice(None)], [row])
            for each, (_, row) in zip(alone, single, strict=True)
        ]

    @cached_property
    def _model(self) -> LoadedModel:
        return LoadedModel.shared(self._threads, self.max_tokens)


@dataclass(frozen=True, slots=True)
class _Text:
    """Token ids, and the ones of which each row of the result is the mean."""

    ids: list[int]
    tokens: list[slice]
    rows: list[int]


def _spans(text: str, parts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the parts of a text stand in it, one after another."""
    end = 0
    for part in parts:
        start = text.index(part, end)
        end = start + len(part)
        yield start, end


def _tokens(encoding: Any, span: tuple[int, int]) -> slice | None:
    """The tokens of a span of characters; the marks at both ends of a text have no characters."""
    start, end = span
    inside = [
        place
        for place, (first, last) in enumerate(encoding.offsets)
        if first < last and first < end and last > start
    ]
    return slice(inside[0], inside[-1] + 1) if inside else None


def _batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Rows of about the same length together, so that little of a batch is padding."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == most or lengths[row] > _PADDING * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


# The client wants a key even for servers that do not.
_NO_KEY = "none"


class EndpointEmbedder:
    """Any OpenAI-compatible ``/embeddings`` endpoint; ``api_key`` may be empty.

    The key is sent to ``base_url`` alone and is part of no message of this class.
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
        self.name = f"{model}@{base_url.rstrip('/')}"
        self._base_url = base_url
        self._api_key = api_key
        self._model = model
        self._batch_size = batch_size
        self._timeout_s = timeout_s

    @cached_property
    def dimensions(self) -> int:
        """The length of the endpoint's vectors, learnt from one request."""
        return int(self.embed(["dimensions"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The endpoint's vectors, normalised, in the order of the texts.

        Raises:
            EmbeddingError: it cannot be reached, refuses, or answers something else.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        rows: list[list[float]] = []
        for start in range(0, len(texts), self._batch_size):
            rows += self._request(list(texts[start : start + self._batch_size]))
        return _normalise(np.asarray(rows, dtype=np.float32))

    def embed_parts(self, queries: Sequence[Sequence[str]]) -> Vectors:
        """As `embed`: the endpoint reads each part alone."""
        return self.embed([part for query in queries for part in query])

    def _request(self, texts: list[str]) -> list[list[float]]:
        import openai

        # An empty string is refused by most servers, and an undocumented API may have no words.
        payload = [text or " " for text in texts]
        try:
            with openai.OpenAI(
                base_url=self._base_url, api_key=self._api_key or _NO_KEY, timeout=self._timeout_s
            ) as client:
                reply = client.embeddings.create(
                    input=payload, model=self._model, encoding_format="float"
                )
        except openai.OpenAIError as error:
            raise EmbeddingError(self._explain(error)) from None
        data = sorted(reply.data or [], key=lambda item: item.index)
        if len(data) != len(texts) or len({len(item.embedding) for item in data}) != 1:
            raise EmbeddingError(
                f"{self._base_url} answered {len(data)} embeddings for {len(texts)} texts."
            )
        return [item.embedding for item in data]

    def _explain(self, error: Exception) -> str:
        import openai

        where = f"The embedding endpoint {self._base_url}"
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return f"{where} rejected the API key. Check OPENAI_API_KEY."
        if isinstance(error, openai.NotFoundError):
            return f"{where} does not know the model {self._model}."
        if isinstance(error, openai.APITimeoutError):
            return f"{where} did not answer within {self._timeout_s:.0f} s."
        if isinstance(error, openai.APIConnectionError):
            return f"{where} cannot be reached. Is the address right and the server running?"
        if isinstance(error, openai.APIStatusError):
            return f"{where} answered with status {error.status_code}."
        return f"{where} gave no embeddings ({type(error).__name__})."


def _pool(session: Any, texts: Sequence[_Text]) -> Iterator[Vectors]:
    """For each text the vectors of its rows."""
    import numpy as np

    width = max(len(each.ids) for each in texts)
    ids = np.zeros((len(texts), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, each in enumerate(texts):
        ids[row, : len(each.ids)] = each.ids
        mask[row, : len(each.ids)] = 1
    states = session.run(
        ["last_hidden_state"],
        {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)},
    )[0]
    for each, own in zip(texts, states, strict=True):
        known = own[: len(each.ids)]
        yield _normalise(np.stack([known[tokens].mean(axis=0) for tokens in each.tokens]))


def _normalise(vectors: Vectors) -> Vectors:
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
