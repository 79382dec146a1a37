"""A line chart as SVG: shares between 0 and 1 over whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _MARGIN, _LEGEND_ROW = 640, 300, 46, 16
_COLOURS = ("#0b6bcb", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#117a8b", "#5d6d7e")


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its name and its points."""

    name: str
    points: tuple[tuple[int, float], ...]


def line_chart(title: str, below: str, series: Sequence[Series]) -> str:
    """The chart, every word in it escaped; ``below`` names the numbers below it."""
    places = [place for one in series for place, _ in one.points]
    first, last = min(places), max(places)
    height = _HEIGHT + _LEGEND_ROW * len(series)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{escape(title)}</title>'
        '<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{_MARGIN}" y="18" font-weight="bold">{escape(title)}</text>'
    ]
    parts += [_grid(tenths / 10) for tenths in range(0, 11, 2)]
    parts += [_tick(place, first, last) for place in _ticks(first, last)]
    middle = _WIDTH / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 8}">{escape(below)}</text>')
    for number, one in enumerate(series):
        parts.append(_line(one, number, first, last))
    return "".join([*parts, "</svg>"])


def _line(series: Series, number: int, first: int, last: int) -> str:
    colour = _COLOURS[number % len(_COLOURS)]
    dashes = ' stroke-dasharray="5 3"' if number >= len(_COLOURS) else ""
    points = [(_x(place, first, last), _y(value)) for place, value in series.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in points)
    y = _HEIGHT + _LEGEND_ROW * number + 4
    return (
        f'<g fill="{colour}"><polyline points="{path}" fill="none" stroke="{colour}" '
        f'stroke-width="1.5"{dashes}/>{dots}<rect x="{_MARGIN}" y="{y - 8}" width="12" '
        f'height="8"/></g><text x="{_MARGIN + 18}" y="{y}">{escape(series.name)}</text>'
    )


def _grid(value: float) -> str:
    y = _y(value)
    return (
        f'<line x1="{_MARGIN}" x2="{_WIDTH - 10}" y1="{y}" y2="{y}" stroke="#ddd"/>'
        f'<text x="{_MARGIN - 8}" y="{y + 4}" text-anchor="end">{value:.1f}</text>'
    )


def _tick(place: int, first: int, last: int) -> str:
    x = _x(place, first, last)
    return f'<text x="{x:.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{place}</text>'


def _ticks(first: int, last: int) -> range:
    return range(first, last + 1, max(1, (last - first) // 10))


def _x(place: int, first: int, last: int) -> float:
    return _MARGIN + 10 + (place - first) / max(1, last - first) * (_WIDTH - _MARGIN - 30)


def _y(value: float) -> float:
    return round(_HEIGHT - 42 - value * (_HEIGHT - 76), 1)
