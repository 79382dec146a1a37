"""The environment of a sidecar: what it needs, and no secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping

_ALLOWED = re.compile(
    r"""PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM
    |VIRTUAL_ENV|CONDA_\w+|LD_LIBRARY_PATH|DYLD_\w*LIBRARY_PATH
    |PYTHONPATH|PYTHONHOME|PYTHONHASHSEED|PYTHONNOUSERSITE|PYTHONUSERBASE|PYTHONUTF8
    |PYTHONDONTWRITEBYTECODE|PYTHONPYCACHEPREFIX|PYTHONWARNINGS|PYTHONIOENCODING
    |(OMP|MKL|OPENBLAS|NUMEXPR|VECLIB_MAXIMUM|BLIS|RAYON|POLARS_MAX)_\w+
    |CUDA_VISIBLE_DEVICES|CUDA_HOME|MPLBACKEND|MPLCONFIGDIR|XDG_\w+|SSL_CERT_(FILE|DIR)
    |COLUMNS|LINES|NO_COLOR""",
    re.VERBOSE,
)
# Variables with such names usually hold secrets.
SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS(WORD|WD|PHRASE)|CREDENTIAL|(^|_)AUTH", re.IGNORECASE
)

# Candidates run side by side, so one thread each is a fair share; and a process with a thread pool
# could not be forked. A fixed hash seed makes a replay print its sets in the same order. A fork
# copies the page tables, which huge pages keep small: for 1 GB it takes 1 ms instead of 20.
_DEFAULTS = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}


def clean_environment(
    surroundings: Mapping[str, str], extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The allowed part of ``surroundings`` with ``extra`` on top, without secrets of either."""
    allowed_variables = {
        name: value for name, value in surroundings.items() if _ALLOWED.fullmatch(name) is not None
    }
    variables = {**_DEFAULTS, **allowed_variables, **(extra or {})}
    return {name: value for name, value in variables.items() if SECRET_NAME.search(name) is None}


# Variables about the user's home and session.
_PERSONAL = re.compile(r"HOME|USER|LOGNAME|SHELL|TMPDIR|MPLCONFIGDIR|XDG_\w+|PYTHONPYCACHEPREFIX")
_NETWORK = re.compile(r"(https?|all|no)_proxy|(REQUESTS|CURL)_CA_BUNDLE", re.IGNORECASE)


def private_environment(
    environment: Mapping[str, str], *, home: str, temporary: str, user_base: str | None
) -> dict[str, str]:
    """``environment`` with a private home (and so private caches) and temporary folder.

    Args:
        environment: A clean one.
        home: The home in the sandbox.
        temporary: The folder for temporary files there.
        user_base: The base of the user's own packages, by default derived from the home.
    """
    impersonal = {n: v for n, v in environment.items() if _PERSONAL.fullmatch(n) is None}
    own = {"HOME": home, "TMPDIR": temporary, "USER": "sandbox", "LOGNAME": "sandbox"}
    packages = {"PYTHONUSERBASE": user_base} if user_base else {}
    return {**impersonal, **own, **packages}


def network_variables(surroundings: Mapping[str, str]) -> dict[str, str]:
    """How to reach the network: proxies (unless they hold a password) and certificates."""
    return {
        name: value
        for name, value in surroundings.items()
        if _NETWORK.fullmatch(name) is not None and "@" not in value
    }
