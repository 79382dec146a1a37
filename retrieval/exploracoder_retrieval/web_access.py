"""What connections to other machines need: a usable proxy."""

from __future__ import annotations


def unusable_proxy(error: Exception) -> str:
    """The sentence, without a password, for a proxy that httpx refuses when a client is made.

    ``error`` is an ImportError, a ValueError, or an `httpx.InvalidURL`.
    """
    if isinstance(error, ImportError):
        advice = "pip install socksio"
    else:
        # An invalid URL may be quoted with the password, taken for a port.
        advice = str(error) if isinstance(error, ValueError) else "it is not a valid address"
    return (
        "The proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names cannot be used (SOCKS is"
        f" written socks5://HOST:PORT): {advice}"
    )
