"""API names in what people write: which words on a page are names, and how the names rank."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from exploracoder_retrieval.apisearch.web_page import Page

# A dotted path, called or not, or a bare name that is called.
_NAME = re.compile(r"(?<![\w./@:-])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w*(?=\())(?![\w@/-])")
_ADDRESS = re.compile(r"\w+://\S+|\bwww\.\S+|\S+@\S+")
# Modules by their conventional aliases.
_MODULES = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "sns": "seaborn",
    "tf": "tensorflow",
    "sp": "scipy",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
}
# Dotted names that begin with one of these start at a variable: what follows is a method's name.
_VARIABLES = frozenset({"self", "cls", "df", "ser", "arr", "obj", "data", "result", "model", "res"})
_FILE_OR_HOST = frozenset(
    {"py", "ipynb", "txt", "csv", "json", "md", "html", "htm", "yml", "yaml", "toml", "cfg", "js"}
    | {"com", "org", "net", "io", "dev", "edu", "gov", "co", "uk", "de", "g", "e"}
)
_NEVER = frozenset(dir(builtins)) | frozenset(keyword.kwlist)
# Small, so that the first page outweighs many later ones.
_RANK_CONSTANT = 5.0


@dataclass(slots=True)
class NamedApi:
    """A name with its score and the pages that it appears on, best page first."""

    name: str
    score: float = 0.0
    urls: list[str] = field(default_factory=list)


def pick_names(pages: Sequence[Page], most: int = 20) -> tuple[NamedApi, ...]:
    """The API names on ``pages``, best first.

    A name's score is the sum of ``(1 + ln n) / (5 + rank)`` over the pages that it appears on: n is
    how often the page has it, rank the page's place, counted from 1. A method or function named
    without its module (``resample()``, ``df.resample``) counts towards the best dotted name that
    ends in it, if there is one. Addresses, file names and builtins are left out.
    """
    apis: dict[str, NamedApi] = {}
    for rank, page in enumerate(pages, start=1):
        counts: dict[str, int] = defaultdict(int)
        for name in _names(f"{page.title}\n{page.text}"):
            counts[name] += 1
        for name, count in counts.items():
            api = apis.setdefault(name, NamedApi(name))
            api.score += (1 + math.log(count)) / (_RANK_CONSTANT + rank)
            api.urls.append(page.url)
    return tuple(_merged(apis.values())[:most])


def _names(text: str) -> Iterable[str]:
    for match in _NAME.finditer(_ADDRESS.sub(" ", text)):
        name = match[1]
        head, _, rest = name.partition(".")
        if rest.rpartition(".")[2].lower() in _FILE_OR_HOST:
            continue
        if head in _MODULES and rest:
            yield f"{_MODULES[head]}.{rest}"
        elif rest and (head in _VARIABLES or len(head) < 3):
            yield rest
        elif rest or name not in _NEVER:
            yield name


def _merged(apis: Iterable[NamedApi]) -> list[NamedApi]:
    """The names by score, with each bare name added to the best dotted name that ends in it."""
    ranking = sorted(apis, key=lambda api: -api.score)
    dotted_apis = [api for api in ranking if "." in api.name]
    bare = [api for api in ranking if "." not in api.name]
    for api in bare:
        owner = next((one for one in dotted_apis if one.name.endswith(f".{api.name}")), None)
        if owner is None:
            dotted_apis.append(api)
        else:
            owner.score += api.score
            owner.urls += [url for url in api.urls if url not in owner.urls]
    return sorted(dotted_apis, key=lambda api: -api.score)
