"""What a solution does beyond computing is said before anybody takes it over."""

from __future__ import annotations

import pytest
from exploracoder.engine.reading.effects import effects, in_words

MARKED = [
    ("import os\nos.remove('x')", "deletes", 2, "os.remove"),
    ("from os import unlink as gone\ngone('x')", "deletes", 2, "os.unlink"),
    ("import shutil as s\nif True:\n    s.rmtree('x')", "deletes", 3, "shutil.rmtree"),
    ("from pathlib import Path\nPath('x').unlink()", "deletes", 2, ".unlink"),
    ("def tidy(folder):\n    folder.rmdir()", "deletes", 2, ".rmdir"),
    ("import os\nclear = os.remove\nclear('x')", "deletes", 2, "os.remove"),
    ("import os\nlist(map(os.remove, names))", "deletes", 2, "os.remove"),
    ("import os\ngetattr(os, 'remove')('x')", "deletes", 2, "getattr"),
    ("os.remove('x')", "deletes", 1, "os.remove"),
    ("import subprocess\nsubprocess.run(['ls'])", "runs", 2, "subprocess.run"),
    ("from subprocess import Popen\nPopen('ls')", "runs", 2, "subprocess.Popen"),
    ("import os\nos.system('ls')", "runs", 2, "os.system"),
    ("import os\nos.execvp('ls', ['ls'])", "runs", 2, "os.execvp"),
    ("!ls", "runs", 1, "!"),
    ("a = 1\nlines = !ls", "runs", 2, "!"),
    ("%%bash\nrm -rf /", "runs", 1, "%%bash"),
    ("import requests as r\nr.post('x', data=d)", "sends", 2, "requests.post"),
    ("import urllib.request\nurllib.request.urlopen(u)", "sends", 2, "urllib.request.urlopen"),
    ("from urllib import request\nrequest.urlopen(u)", "sends", 2, "urllib.request.urlopen"),
    ("import socket\nsocket.socket().connect(a)", "sends", 2, "socket.socket"),
    ("import httpx\nhttpx.get(u)", "sends", 2, "httpx.get"),
    ("import pandas as pd\npd.read_csv('https://example.org/t.csv')", "sends", 2, ".read_csv"),
    ("open('/etc/passwd', 'w')", "writes", 1, "open(…, 'w')"),
    ("open('../a', mode='a')", "writes", 1, "open(…, 'a')"),
    ("open(name, 'x')", "writes", 1, "open(…, 'x')"),
    ("open(name, mode)", "writes", 1, "open(…, '?')"),
    ("from pathlib import Path\nPath('~/a').open('w')", "writes", 2, "open(…, 'w')"),
    ("import gzip\ngzip.open('/tmp/a', 'wb')", "writes", 2, "open(…, 'wb')"),
    ("from pathlib import Path\nPath('/a').write_text('')", "writes", 2, ".write_text"),
    ("frame.to_csv('/tmp/a.csv')", "writes", 1, ".to_csv"),
    ("eval('1')", "hidden", 1, "eval"),
    ("import builtins\nbuiltins.exec('1')", "hidden", 2, "builtins.exec"),
    ("import pickle\npickle.load(file)", "hidden", 2, "pickle.load"),
    ("__import__('os').remove('x')", "hidden", 1, "__import__"),
    ("import importlib\nimportlib.import_module(n)", "hidden", 2, "importlib.import_module"),
    ("import os\ngetattr(os, 're' + 'move')('x')", "hidden", 2, "getattr"),
    ("from os import *", "hidden", 1, "from os import *"),
    ("get_ipython().system('ls')", "hidden", 1, "get_ipython"),
    ("import ctypes\nctypes.CDLL(None)", "hidden", 2, "ctypes.CDLL"),
    ("def f(:", "hidden", 1, "it is no Python"),
    ("%run other.py", "hidden", 1, "%run"),
]


@pytest.mark.parametrize(("code", "kind", "line", "what"), MARKED)
def test_what_code_does_is_named_with_its_line(code: str, kind: str, line: int, what: str) -> None:
    code_effects = effects(code)

    assert (kind, line, what) in {(one.kind, one.line, one.what) for one in code_effects}


QUIET = [
    "print('os.remove')",
    "import os\nos.path.join('a', os.getcwd())",
    "names = ['a']\nnames.remove('a')",
    "requests = [1]\nrequests.append(2)",
    "def solve(socket):\n    return socket.name",
    "import re\nre.compile('a')",
    "model.eval()",
    "open('a.txt')",
    "open('a.txt', 'w')",
    "from pathlib import Path\nPath('out.txt').write_text('')",
    "frame.to_csv('a.csv')",
    "frame.rename(columns={})",
    "from urllib.parse import urlsplit\nurlsplit('https://example.org')",
    "from PIL import Image\nImage.open('a.png')",
    "text = '''\n!important\n'''",
    "# os.system('ls')",
    "getattr()",
    "",
]


@pytest.mark.parametrize("code", QUIET)
def test_what_only_computes_is_not_marked(code: str) -> None:
    assert effects(code) == ()


def test_all_of_it_is_said_in_one_warning_that_promises_no_more_than_it_knows() -> None:
    code = "import os, requests\nrequests.post('x')\n" + "os.remove('x')\n" * 9

    words = in_words(effects(code))

    assert words.startswith("As far as the code shows, it uses the network (line 2: requests.post)")
    assert "deletes files (line 9: os.remove); and 2 more." in words
    assert in_words(()) == ""


def test_code_that_is_nested_too_deep_cannot_be_told() -> None:
    code_effects = effects("(" * 5_000 + ")" * 5_000)

    assert [one.kind for one in code_effects] == ["hidden"]
