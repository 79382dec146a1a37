"""A grammar for replies in which every attribute has a name that exists.

A small model that was told the right name still writes the one it knows from elsewhere; bound to a
grammar it cannot. What follows a dot in code is a name from the libraries, from Python's own types
or usual modules, or from the task. Strings and comments are unrestricted.
"""

from __future__ import annotations

import collections
import csv
import datetime
import functools
import io
import itertools
import json
import math
import operator
import os
import pathlib
import random
import re
import string
from collections.abc import Iterable
from types import GeneratorType, TracebackType

from exploracoder_retrieval.apidoc import ApiDoc

_TYPES = (str, bytes, int, float, complex, list, tuple, dict, set, range, slice, type)
_MORE_TYPES = (BaseException, GeneratorType, TracebackType, io.TextIOWrapper, io.BytesIO)
_CLASSES = (collections.Counter, collections.deque, collections.OrderedDict, pathlib.Path)
_MOMENTS = (datetime.datetime, datetime.date, datetime.timedelta, re.Pattern, re.Match)
_MODULES = (collections, csv, datetime, functools, io, itertools, json, math, operator, os)
_MORE_MODULES = (os.path, pathlib, random, re, string)
_OWNERS = (*_TYPES, *_MORE_TYPES, *_CLASSES, *_MOMENTS, *_MODULES, *_MORE_MODULES)

# In code a dot begins an attribute, or is part of a number, an ellipsis or a relative import.
_RULES = r"""
root ::= "```python\n" item+ "```"
item ::= plain | text | comment | "." attribute | "." number
plain ::= [^."'#`]
attribute ::= name ("." attribute | after)
after ::= [^a-zA-Z0-9_."'#`\u0080-\U0010FFFF] | comment
number ::= [^a-zA-Z_"'#`\u0080-\U0010FFFF]
comment ::= "#" [^\n]* "\n"
text ::= double | single
double ::= "\"\"\"" ([^"] | "\"" [^"] | "\"\"" [^"])* "\"\"\"" | "\"" ([^"\\\n] | "\\" [^\n])* "\""
single ::= "'" "''" ([^'] | "'" [^'] | "''" [^'])* "''" "'" | "'" ([^'\\\n] | "\\" [^\n])* "'"
"""


def grammar_of(docs: Iterable[ApiDoc], codes: Iterable[str]) -> str:
    """The grammar of one Python block, in GBNF.

    ``docs`` are all APIs of the libraries; ``codes`` are texts whose names may be used as well.
    """
    return f"{_RULES.strip()}\nname ::= {_tree(sorted(names_of(docs, codes)))}\n"


def names_of(docs: Iterable[ApiDoc], codes: Iterable[str]) -> set[str]:
    """The names that may follow a dot."""
    names = {part for doc in docs for part in _segments(doc)}
    names |= {name for owner in _OWNERS for name in dir(owner)}
    names |= {name for code in codes for name in re.findall(r"[^\W\d]\w*", code)}
    return {name for name in names if name.isidentifier() and name.isascii()}


def _tree(names: Iterable[str]) -> str:
    """The sorted names as a prefix tree: thousands of flat alternatives are slow."""
    branches = []
    for _, group in itertools.groupby(names, key=lambda name: name[0]):
        alike = list(group)
        head = os.path.commonprefix(alike)  # noqa: RUF071 - of letters, not of folders
        rest = [name.removeprefix(head) for name in alike]
        longer = [end for end in rest if end]
        ends = f" ({_tree(longer)}){'' if longer == rest else '?'}" if longer else ""
        branches.append(f'"{head}"{ends}')
    return " | ".join(branches)


def _segments(doc: ApiDoc) -> Iterable[str]:
    yield from doc.path.split(".")
    for alias in doc.aliases:
        yield from alias.split(".")
