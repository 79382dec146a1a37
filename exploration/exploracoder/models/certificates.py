"""Which certificates of servers are trusted."""

from __future__ import annotations

import os
import ssl

from exploracoder.errors import SetupError


def trusted() -> ssl.SSLContext:
    """This machine's certificate authorities and certifi's, or those in ``SSL_CERT_FILE`` alone.

    A company's own authority is usually installed on the machine, where certifi does not look;
    slim containers have none but certifi's. Raises SetupError if the file cannot be read.
    """
    file = os.environ.get("SSL_CERT_FILE")
    if file:
        try:
            return ssl.create_default_context(cafile=file)
        except OSError as error:
            raise SetupError(f"SSL_CERT_FILE names {file}, which cannot be used: {error}") from None
    context = ssl.create_default_context()
    import certifi

    context.load_verify_locations(certifi.where())
    return context


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
