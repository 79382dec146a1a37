"""The weights of the features, as they were learned."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources

from exploracoder_retrieval.arrays import Floats, np
from exploracoder_retrieval.ranking.candidates import FEATURES


@lru_cache(maxsize=1)
def learned_weights() -> Floats:
    """One for each of FEATURES; ``weights.json`` says how they were learned."""
    file = resources.files("exploracoder_retrieval") / "data" / "weights.json"
    by_name = json.loads(file.read_text(encoding="utf-8"))["weights"]
    return np.asarray([by_name[name] for name in FEATURES], dtype=np.float32)
