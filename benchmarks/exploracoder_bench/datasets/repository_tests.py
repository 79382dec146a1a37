"""A repository's own tests as the check of a class: each of them is run by pytest and counted.

The check runs in a copy of the repository that has the class
(``exploracoder.engine.running.oracle``). It raises an error that says how many tests pass, and only
that sentence is read, never what tests print. A test that is skipped or does not finish has not
passed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from exploracoder_kernel.observation import Observation

_RUNNING = Path(__file__).with_name("running_tests.py.txt")
_CHECK = """\
_passed, _said = _run_tests(TESTS)
print(_said)
_names = set()
for _one in TESTS:
    _heads = (_one + "::", _one + "[", _one + "/")
    _names |= {_name for _name in _passed if _name == _one or _name.startswith(_heads)} or {_one}
_good = sum(_passed.get(_name, False) for _name in _names)
assert _good == len(_names), f"{_good} of {len(_names)} tests pass"
"""
_PROBE = """\
_passed, _said = _run_tests(TESTS)
print(_said[-2000:])
print(json.dumps(_passed))
"""
_COUNT = re.compile(r"(\d+) of (\d+) tests pass")


def check_of(tests: Sequence[str]) -> str:
    """The check that passes when all tests do; they are named as pytest names them, or files."""
    return _with(tests, _CHECK)


def probe_of(tests: Sequence[str]) -> str:
    """Code that runs tests and prints, as its last line, whether each has passed."""
    return _with(tests, _PROBE)


def outcomes(probe: Observation) -> Mapping[str, bool]:
    """Whether each test has passed, as a probe printed it; empty if it did not get that far."""
    lines = probe.stdout.strip().splitlines()
    if not probe.ran or not lines:
        return {}
    results: dict[str, bool] = json.loads(lines[-1])
    return results


def counted(check: Observation | None, tests: int) -> tuple[int, int]:
    """How many tests pass, and of how many, for a check that names ``tests`` of them.

    A check that names none counts as one test.
    """
    of = tests or 1
    if check is None or check.ran:
        return (0 if check is None else of), of
    error = check.error
    match = _COUNT.fullmatch(error.evalue) if error and error.ename == "AssertionError" else None
    return (int(match[1]), int(match[2])) if tests and match else (0, of)


def _with(tests: Sequence[str], end: str) -> str:
    return f"{_RUNNING.read_text(encoding='utf-8')}TESTS = {list(tests)!r}\n{end}"
