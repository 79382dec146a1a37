"""What connections to servers need: certificates to trust, a usable proxy, addresses to show."""

from __future__ import annotations

import ipaddress
import os
import ssl
from urllib.parse import urlsplit, urlunsplit


def trusted() -> ssl.SSLContext:
    """This machine's certificate authorities and certifi's, or those in ``SSL_CERT_FILE`` alone.

    A company's own authority is usually installed on the machine, where certifi does not look;
    slim containers have none but certifi's. Raises OSError, with a sentence, if the file cannot be
    read.
    """
    file = os.environ.get("SSL_CERT_FILE")
    if file:
        try:
            return ssl.create_default_context(cafile=file)
        except OSError as error:
            raise OSError(f"SSL_CERT_FILE names {file}, which cannot be used: {error}") from None
    context = ssl.create_default_context()
    import certifi

    context.load_verify_locations(certifi.where())
    return context


def unusable_proxy(error: Exception) -> str:
    """The sentence, without a password, for a proxy that httpx refuses when a client is made.

    ``error`` is an ImportError, a ValueError, or an `httpx.InvalidURL`.
    """
    # Others quote the address, and may take a password for a port or a scheme.
    is_socks = isinstance(error, ImportError)
    advice = "pip install socksio" if is_socks else "it is not a valid address"
    return (
        "The proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names cannot be used (SOCKS is"
        f" written socks5://HOST:PORT): {advice}"
    )


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine itself, which a proxy for the outside cannot reach."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def below(url: str, path: str) -> str:
    """The address of ``path`` below ``url``, whose query and quoting stay as they are."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}"))


def without_credentials(url: str) -> str:
    """The URL without user name, password and query, fit to be shown."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
