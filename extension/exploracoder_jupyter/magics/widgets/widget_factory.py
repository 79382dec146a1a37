"""Makes and closes the widgets of a view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
from ipywidgets.widgets.widget_string import HTMLStyle


class Kit:
    """Makes widgets that share layouts and styles, since each of those costs extra messages."""

    def __init__(self) -> None:
        layout = ipywidgets.Layout
        self._visible_layout, self._hidden_layout = layout(), layout(display="none")
        self._button_layout, self._row_layout = layout(width="auto"), layout(flex_flow="row wrap")
        self._wide_layout = layout(width="100%", max_width="60em")
        self._text, self._button = HTMLStyle(), ipywidgets.ButtonStyle()
        self._own: dict[str, Any] = {}

    def html(self, value: str = "") -> Any:
        """An element for our HTML, in which all foreign text is escaped."""
        return ipywidgets.HTML(value, layout=self._visible_layout, style=self._text)

    def button(self, name: str, tooltip: str, press: Callable[[], None]) -> Any:
        """A button with a text and a tooltip; it starts disabled."""
        button = ipywidgets.Button(
            description=name,
            tooltip=tooltip,
            disabled=True,
            layout=self._button_layout,
            style=self._button,
        )
        button.on_click(lambda _: press())
        return button

    def line(self, name: str, placeholder: str) -> Any:
        """A text field, which reports its value on Enter or loss of focus."""
        return ipywidgets.Text(
            description=name,
            placeholder=placeholder,
            continuous_update=False,
            layout=self._wide_layout,
        )

    def choice(self, name: str) -> Any:
        """A dropdown."""
        return ipywidgets.Dropdown(description=name, layout=self._wide_layout)

    def row(self, children: Sequence[Any]) -> Any:
        """Widgets side by side, wrapping when there is no room."""
        return ipywidgets.HBox(children, layout=self._row_layout)

    def column(self, children: Sequence[Any]) -> Any:
        """Widgets stacked vertically."""
        return ipywidgets.VBox(children, layout=self._visible_layout)

    def show(self, widget: Any, is_shown: bool) -> None:
        """Show or hide a widget."""
        own = self._own.setdefault(widget.model_id, widget.layout)
        layout = own if is_shown else self._hidden_layout
        if widget.layout is not layout:
            widget.layout = layout

    def close(self, widget: Any) -> None:
        """Close a widget and its children, but not the layouts and styles that widgets share."""
        for child in getattr(widget, "children", ()):
            self.close(child)
        shared_styles = (self._text, self._button)
        style = getattr(widget, "style", None)
        if style is not None and style not in shared_styles:
            style.close()
        widget.close()

    def close_shared(self) -> None:
        """Close the shared layouts and styles, once all widgets are closed."""
        layouts = (
            self._visible_layout,
            self._hidden_layout,
            self._button_layout,
            self._row_layout,
            self._wide_layout,
        )
        for one in (*layouts, self._text, self._button):
            one.close()
