"""What a live object tells of itself where static reading found nothing."""

from __future__ import annotations

from exploracoder_retrieval.facts.parameters import parse_signature
from exploracoder_retrieval.repotools.answers import SignatureAnswer


def live_signature(
    name: str,
    signature: str | None,
    doc: str | None = None,
    *,
    file: str | None = None,
    line: int | None = None,
) -> SignatureAnswer | None:
    """A signature from what ``inspect`` says of an object in a process that holds it.

    ``name`` is its dotted name there. None when it tells neither signature nor documentation: many
    C functions have no signature, and say it in the first line of their documentation.
    """
    if not signature and not doc:
        return None
    parsed = parse_signature(signature) if signature else None
    parameters, returns = parsed or ((), None)
    last = name.rpartition(".")[2]
    return SignatureAnswer(
        qualname=name,
        path=name,
        file=file,
        line=line or 0,
        params=parameters,
        returns=returns,
        signature=f"def {last}{signature}" if signature else last,
        doc=doc or "",
        note="" if signature else "It does not tell its parameters.",
    )
