"""Which certificates of servers are trusted, and what is said of those that are not."""

from __future__ import annotations

import ssl

from exploracoder_retrieval import web_access

from exploracoder.errors import SetupError


def trusted() -> ssl.SSLContext:
    """What `web_access.trusted` does; raises SetupError if ``SSL_CERT_FILE`` cannot be read."""
    try:
        return web_access.trusted()
    except OSError as error:
        raise SetupError(str(error)) from None


def untrusted(subject: str, fault: str) -> str:
    """The sentence for a certificate of ``subject`` that was refused because of ``fault``."""
    return (
        f"The certificate of {subject} cannot be trusted: {fault}. If your organisation issued it,"
        " set SSL_CERT_FILE to the file with its certificates."
    )


def certificate_fault(error: BaseException | None) -> str:
    """Why a server's certificate was refused, if that is behind ``error``; else empty."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message or error.reason or "it is not valid"
        error = error.__cause__ or error.__context__
    return ""
