"""The candidates of a subtask: a tab for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from exploracoder.state import Candidate, Step

from exploracoder_jupyter.magics.page import Code, Heading, Line
from exploracoder_jupyter.magics.pages import candidate_title
from exploracoder_jupyter.magics.widgets.kit import Kit, html_of
from exploracoder_jupyter.magics.widgets.outputs import outputs_of


@dataclass(frozen=True, slots=True)
class _Panel:
    candidate: Candidate
    widget: Any


class CandidatesPart:
    """Tabs with code and real outputs. The user's tab stays until something else is proposed."""

    def __init__(self, kit: Kit, changed: Callable[[], None]) -> None:
        self._kit = kit
        self._changed = changed
        self._head = kit.html()
        self._tabs = kit.tabs()
        self._panels: tuple[_Panel, ...] = ()
        self._proposal: tuple[str, str | None] = ("", None)
        self._is_drawing = False
        self._tabs.observe(self._pick, "selected_index")
        self.widgets = (self._head, self._tabs)

    @property
    def candidate(self) -> Candidate | None:
        """The candidate that is looked at."""
        index: int | None = self._tabs.selected_index
        if index is None or index >= len(self._panels):
            return None
        return self._panels[index].candidate

    def update(self, step: Step | None) -> None:
        """Bring it up to date: a candidate that did not change keeps its panel."""
        candidates = step.candidates if step is not None else ()
        for widget in self.widgets:
            self._kit.show(widget, bool(candidates))
        old = {panel.candidate.id: panel for panel in self._panels}
        panels = tuple(self._panel(one, old.get(one.id)) for one in candidates)
        chosen = step.chosen if step is not None else None
        titles = tuple(
            candidate_title(number, one, is_proposed=one.id == chosen)
            for number, one in enumerate(candidates, 1)
        )
        index = self._index(step, candidates)
        children = tuple(panel.widget for panel in panels)
        self._panels = panels
        with self._drawing():
            self._draw_tabs(children, titles, index)
        # Tabs are as wide as ipywidgets has them, which cuts the end of their titles off.
        looked_at = [Line(titles[index], "strong")] if index is not None else []
        self._head.value = html_of((Heading("Candidates"), *looked_at))
        for panel in old.values():
            if panel not in panels:
                self._kit.close(panel.widget)

    def _draw_tabs(
        self, children: tuple[Any, ...], titles: tuple[str, ...], index: int | None
    ) -> None:
        tabs = self._tabs
        if children != tabs.children:
            with tabs.hold_sync():
                tabs.children, tabs.selected_index = children, index
            # A page shows new tabs without titles until it is told others than it has.
            tabs.titles = ()
        if titles != tabs.titles:
            tabs.titles = titles
        if index != tabs.selected_index:
            tabs.selected_index = index

    @contextmanager
    def _drawing(self) -> Iterator[None]:
        """Changes that are not the user's."""
        self._is_drawing = True
        try:
            yield
        finally:
            self._is_drawing = False

    def _pick(self, change: dict[str, Any]) -> None:
        if not self._is_drawing:
            self._changed()

    def _panel(self, candidate: Candidate, old: _Panel | None) -> _Panel:
        if old is not None and old.candidate == candidate:
            return old
        problems = (Line(str(problem), "bad") for problem in candidate.problems)
        code = self._kit.html(html_of((Code(candidate.code), *problems)))
        output = self._kit.output(outputs_of(candidate.observation))
        return _Panel(candidate, self._kit.column((code, output)))

    def _index(self, step: Step | None, candidates: tuple[Candidate, ...]) -> int | None:
        """The tab to show: the proposed one when that is new, or else the user's."""
        if step is None or not candidates:
            self._proposal = ("", None)
            return None
        ids = [one.id for one in candidates]
        looked_at = self.candidate
        proposal = (step.subtask.id, step.chosen)
        is_new = proposal != self._proposal
        self._proposal = proposal
        if not is_new and looked_at is not None and looked_at.id in ids:
            return ids.index(looked_at.id)
        return ids.index(step.chosen) if step.chosen in ids else len(ids) - 1
