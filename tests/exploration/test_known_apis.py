"""What a name that somebody wrote means among a library's APIs."""

from __future__ import annotations

import pytest
from exploracoder.engine.reading.known_apis import KnownApis
from exploracoder_retrieval.apidoc import ApiDoc, ApiKind


def api(path: str, kind: ApiKind = "method", *aliases: str) -> ApiDoc:
    return ApiDoc(path=path, kind=kind, library="tea", aliases=aliases)


KNOWN = KnownApis(
    [
        api("tea.Pot", "class"),
        api("tea.Kettle", "class"),
        api("tea.Pot.boil"),
        api("tea.Kettle.boil"),
        api("tea.Kettle.pour", "method", ".into"),
        api("tea.steep", "function", "tea.times.steep"),
    ]
)


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("tea.Kettle.boil", ["tea.Kettle.boil"]),
        ("Kettle.boil", ["tea.Kettle.boil"]),
        ("tea.pots.Kettle.boil", ["tea.Kettle.boil"]),
        ("ettle.boil", ["tea.Pot.boil", "tea.Kettle.boil"]),
        ("boil", ["tea.Pot.boil", "tea.Kettle.boil"]),
        ("flow.into", ["tea.Kettle.pour"]),
        ("times.steep", ["tea.steep"]),
        ("sing", []),
    ],
)
def test_the_class_that_is_named_is_meant(name: str, paths: list[str]) -> None:
    assert [doc.path for doc in KNOWN.meant(name)] == paths


def test_a_member_without_docs_is_looked_for_in_its_class_first() -> None:
    assert KNOWN.places("Kettle._hum") == ("Kettle._hum", "tea.Kettle._hum")
    assert KNOWN.places("Pot.pour") == ("Pot.pour", "tea.Pot.pour", "tea.Kettle.pour")
