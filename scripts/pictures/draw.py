"""`draw`: a picture as SVG. It is legible on light and dark pages, and in print."""

from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape

from scripts.pictures.description import Arrow, Box, Lane, Picture
from scripts.pictures.route import longest, route

UNIT: Final = 20
_MARGIN: Final = 1.0
_TEXT_PX: Final = 15
_NOTE_PX: Final = 12.5
_NOTE_LINE_PX: Final = 17
_LABEL_WIDTH_PX: Final = 6.6
"""Mean width of a letter of a label."""
_WIDE_PX: Final = 12.5
"""Width of a Chinese letter of a label."""

_STYLE: Final = """
:root { --card: #fbfcfe; --edge: #d5dbe5; --ink: #1b2430; --soft: #4a5666; --line: #56647a;
  --code: #ffffff; --code-edge: #8793a6; --object: #e4edfc; --object-edge: #3569bd; --store: #dff3ec;
  --store-edge: #1f7a5c; --outside: #f1f2f5; --outside-edge: #7b8494; --accent: #fff0d6; --accent-edge: #a86508; }
@media (prefers-color-scheme: dark) { :root { --card: #131820; --edge: #303a49; --ink: #eef2f8; --soft: #b4c0d0;
  --line: #9aa8bc; --code: #1e2530; --code-edge: #6d7b90; --object: #182b4a; --object-edge: #79a9f2; --store: #14352b;
  --store-edge: #5cc7a1; --outside: #232831; --outside-edge: #8b95a5; --accent: #40300f; --accent-edge: #e7ab4e; } }
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif; }
.card { fill: var(--card); stroke: var(--edge); }
.lane { fill: none; stroke: var(--edge); stroke-width: 1.5; }
.box { stroke-width: 1.5; }
.code { fill: var(--code); stroke: var(--code-edge); }
.object { fill: var(--object); stroke: var(--object-edge); }
.store { fill: var(--store); stroke: var(--store-edge); }
.outside { fill: var(--outside); stroke: var(--outside-edge); stroke-dasharray: 5 4; }
.accent { fill: var(--accent); stroke: var(--accent-edge); stroke-width: 2; }
.arrow { fill: none; stroke: var(--line); stroke-width: 1.6; }
.dashed { stroke-dasharray: 6 5; }
.head { fill: var(--line); }
.halo { fill: var(--card); }
.title { fill: var(--ink); font-size: 15px; font-weight: 600; }
.note, .label { fill: var(--soft); font-size: 12.5px; }
.lane-text { fill: var(--soft); font-size: 12.5px; font-weight: 600; letter-spacing: .02em; }
"""


def draw(picture: Picture) -> str:
    """Return the SVG of a picture."""
    ends = [*map(_end, picture.boxes.values()), *map(_end, picture.lanes)]
    corners = [corner for arrow in picture.arrows for corner in _route(picture, arrow)]
    corners += [_label_end(picture, arrow) for arrow in picture.arrows if arrow.text]
    width = (max(x for x, _ in [*ends, *corners]) + 2 * _MARGIN) * UNIT
    height = (max(y for _, y in [*ends, *corners]) + 2 * _MARGIN) * UNIT
    parts = [
        *(part for lane in picture.lanes for part in _lane(lane)),
        *(_line(picture, arrow) for arrow in picture.arrows),
        *(part for box in picture.boxes.values() for part in _box(box)),
        *(part for arrow in picture.arrows if arrow.text for part in _label(picture, arrow)),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img" aria-labelledby="title description">',
            f'<title id="title">{escape(picture.title)}</title>',
            f'<desc id="description">{escape(picture.description)}</desc>',
            f"<style>{_STYLE}</style>",
            '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            'orient="auto-start-reverse"><path class="head" d="M0 0.8 L10 5 L0 9.2 z"/></marker></defs>',
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="12"/>',
            f'<g transform="translate({_MARGIN * UNIT:g} {_MARGIN * UNIT:g})">',
            *parts,
            "</g>",
            "</svg>\n",
        ]
    )


def _end(each: Box | Lane) -> tuple[float, float]:
    return each.at[0] + each.size[0], each.at[1] + each.size[1]


def _route(picture: Picture, arrow: Arrow) -> list[tuple[float, float]]:
    return route(arrow, picture.boxes[arrow.start], picture.boxes[arrow.end])


def _rectangle(each: Box | Lane, style: str, radius: int) -> str:
    (x, y), (width, height) = each.at, each.size
    return (
        f'<rect class="{style}" x="{x * UNIT:g}" y="{y * UNIT:g}" width="{width * UNIT:g}" '
        f'height="{height * UNIT:g}" rx="{radius}"/>'
    )


def _lane(lane: Lane) -> Iterator[str]:
    yield _rectangle(lane, "lane", 10)
    yield _text("lane-text", lane.at[0] * UNIT + 12, lane.at[1] * UNIT + 20, lane.text, anchor="start")


def _box(box: Box) -> Iterator[str]:
    yield _rectangle(box, f"box {box.style}", 8)
    x = (box.at[0] + box.size[0] / 2) * UNIT
    middle = (box.at[1] + box.size[1] / 2) * UNIT
    y = middle - len(box.notes) * _NOTE_LINE_PX / 2 + _TEXT_PX * 0.35
    yield _text("title", x, y, box.text)
    for number, note in enumerate(box.notes, 1):
        yield _text("note", x, y + number * _NOTE_LINE_PX + 1, note)


def _line(picture: Picture, arrow: Arrow) -> str:
    points = " L".join(f"{x * UNIT:g} {y * UNIT:g}" for x, y in _route(picture, arrow))
    style = "arrow dashed" if arrow.is_dashed else "arrow"
    return f'<path class="{style}" d="M{points}" marker-end="url(#head)"/>'


def _label(picture: Picture, arrow: Arrow) -> Iterator[str]:
    (ax, ay), (bx, by) = longest(_route(picture, arrow))
    x = (ax + (bx - ax) * arrow.label_at) * UNIT
    y = (ay + (by - ay) * arrow.label_at) * UNIT
    lines = arrow.text.split("\n")
    width = max(map(_width, lines)) + 8
    top = y - len(lines) * _NOTE_LINE_PX / 2
    height = len(lines) * _NOTE_LINE_PX
    yield f'<rect class="halo" x="{x - width / 2:g}" y="{top:g}" width="{width:g}" height="{height:g}" rx="3"/>'
    for number, line in enumerate(lines):
        yield _text("label", x, top + (number + 0.5) * _NOTE_LINE_PX + _NOTE_PX * 0.35, line)


def _label_end(picture: Picture, arrow: Arrow) -> tuple[float, float]:
    """Return the right end of a label."""
    (ax, ay), (bx, _) = longest(_route(picture, arrow))
    half = max(map(_width, arrow.text.split("\n"))) / 2 / UNIT
    return ax + (bx - ax) * arrow.label_at + half, ay


def _width(text: str) -> float:
    return sum(_LABEL_WIDTH_PX if ord(letter) < 0x2E80 else _WIDE_PX for letter in text)


def _text(style: str, x: float, y: float, text: str, *, anchor: str = "middle") -> str:
    return f'<text class="{style}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
