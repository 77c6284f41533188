"""Parts of a chart as SVG. It is legible on light and dark pages and in print, alone and within a page."""

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 720
_STYLE: Final = """
.chart { color: #1b2430; --own: #0b6b70; --other: #79808c; --grid: #dfe3e9; --soft: #4d5866; fill: none; stroke: none; }
@media (prefers-color-scheme: dark) {
  .chart { color: #eef2f8; --own: #63cfc8; --other: #99a3b1; --grid: #323b48; --soft: #b4c0d0; } }
.chart text { fill: currentColor; font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
.chart .head { font-size: 15px; font-weight: 600; }
.chart .soft { fill: var(--soft); font-size: 12px; }
.chart .own-text { fill: var(--own); font-weight: 600; }
.chart .other-text { fill: var(--soft); }
.chart .own { fill: var(--own); }
.chart .other { fill: var(--other); }
.chart .grid { stroke: var(--grid); stroke-width: 1; }
.chart .axis { stroke: var(--soft); stroke-width: 1; }
.chart .gap { stroke: var(--other); stroke-width: 2; }
.chart .goal { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 5 4; }
.chart .course { stroke: var(--own); stroke-width: 2.5; stroke-linejoin: round; }
"""


def drawing(name: str, title: str, description: str, height: float, parts: Iterable[str]) -> str:
    """Return the document. `name` makes its ids unique within a page; the description is for screen readers."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
            f'height="{height:g}" role="img" aria-labelledby="{name}-title {name}-description">',
            f'<title id="{name}-title">{escape(title)}</title>',
            f'<desc id="{name}-description">{escape(description)}</desc>',
            f"<style>{_STYLE}</style>",
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, content: str, style: str = "", anchor: str = "start") -> str:
    """Return a text. `y` is its base line; `anchor`: start, middle or end."""
    return f'<text{_class(style)} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    """Return a straight line."""
    return f'<line{_class(style)} x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def bar(x: float, y: float, width: float, height: float, style: str) -> str:
    """Return a filled rectangle."""
    return f'<rect{_class(style)} x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def dot(x: float, y: float, radius: float, style: str) -> str:
    """Return a filled circle."""
    return f'<circle{_class(style)} cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def course(points: Iterable[tuple[float, float]]) -> str:
    """Return the line through points."""
    return f'<polyline class="course" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""
