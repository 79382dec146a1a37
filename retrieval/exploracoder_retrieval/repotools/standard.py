"""The modules in which the standard library keeps its names, and conventional module aliases."""

from __future__ import annotations

from functools import cached_property

from exploracoder_retrieval.facts.fact_types import Module
from exploracoder_retrieval.facts.importable_modules import InstalledSources
from exploracoder_retrieval.facts.store import NAMES, FactStore

CONVENTIONS = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "mpl": "matplotlib",
    "sns": "seaborn",
    "tf": "tensorflow",
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "jnp": "jax.numpy",
    "xr": "xarray",
    "nx": "networkx",
    "pl": "polars",
    "pa": "pyarrow",
    "px": "plotly.express",
    "go": "plotly.graph_objects",
    "st": "streamlit",
    "sm": "statsmodels.api",
    "smf": "statsmodels.formula.api",
    "gpd": "geopandas",
    "dd": "dask.dataframe",
    "da": "dask.array",
    "sa": "sqlalchemy",
    "dt": "datetime",
    "ET": "xml.etree.ElementTree",
    "mp": "multiprocessing",
    "tk": "tkinter",
}

# The modules from which names are imported one by one; earlier ones are preferred.
# fmt: off
_MODULES = (
    "typing", "collections", "dataclasses", "pathlib", "datetime", "functools", "itertools",
    "contextlib", "enum", "abc", "collections.abc", "decimal", "fractions", "json", "re",
    "math", "statistics", "random", "time", "types", "copy", "operator", "string", "textwrap",
    "uuid", "logging", "threading", "queue", "concurrent.futures", "asyncio", "subprocess",
    "tempfile", "shutil", "os", "os.path", "sys", "io", "urllib.parse", "urllib.request",
    "http", "http.client", "http.server", "inspect", "warnings", "weakref", "heapq", "bisect",
    "hashlib", "hmac", "secrets", "base64", "struct", "csv", "sqlite3", "argparse",
    "configparser", "traceback", "zoneinfo", "ipaddress", "email.message", "html",
    "html.parser", "unittest", "unittest.mock", "importlib", "importlib.metadata",
    "importlib.resources", "ast", "socket", "ssl", "select", "selectors", "signal", "pprint",
    "glob", "fnmatch", "zipfile", "tarfile", "gzip", "bz2", "lzma", "zlib", "pickle", "array",
    "calendar", "numbers", "cmath", "locale", "platform", "getpass", "multiprocessing",
    "multiprocessing.pool", "graphlib", "difflib", "codecs", "contextvars",
    "xml.etree.ElementTree",
)
# fmt: on


class StandardNames:
    """The public names of the standard library's modules, each with the modules that define it."""

    def __init__(self, installed_sources: InstalledSources, store: FactStore) -> None:
        self._installed_sources = installed_sources
        self._store = store

    def homes(self, name: str) -> tuple[str, ...]:
        """The modules from which a name can be imported, the usual one first."""
        return self._homes.get(name, ())

    @cached_property
    def _homes(self) -> dict[str, tuple[str, ...]]:
        stored_homes = self._store.load(NAMES, _KEY)
        if stored_homes:
            return stored_homes
        by_name: dict[str, list[str]] = {}
        for home in _MODULES:
            module = (
                self._installed_sources.module(home)
                if self._installed_sources.is_standard(home)
                else None
            )
            for name in _published(module) if module else ():
                by_name.setdefault(name, []).append(home)
        homes = {name: tuple(modules) for name, modules in by_name.items()}
        self._store.keep(NAMES, _KEY, homes)
        return homes


_KEY = "standard names"


def _published(module: Module) -> set[str]:
    """The names that a module publishes; what it only imports for its annotations is left out."""
    items = (*module.classes, *module.functions, *module.variables)
    names = module.exports or (one.name for one in items)
    return {one for one in names if not one.startswith("_")}
