"""The picture of the front page: clients, the API server with its store, and the loops around it."""

import html
from collections.abc import Iterator, Mapping
from typing import Final

_LOOPS: Final = ("controllers", "scheduler", "nodes", "operator")
_LOOP_HEIGHT: Final = 72
_LOOP_STEP: Final = 88
_STEPS_LEFT: Final = 318
_STEPS_WIDTH: Final = 304


def drawing(texts: Mapping[str, str]) -> str:
    """Return the picture as SVG for the page, for wide and for narrow windows. Its colours are those of the page."""
    loops = [_loop(number, texts) for number in range(len(_LOOPS))]
    wide = "".join((*_clients(texts), *_server(texts), *loops, *_arrows_of_loops(texts)))
    stacked = "".join(
        (
            f'<g transform="translate(81 -134)">{"".join(_boxes_of_clients(texts))}</g>',
            f'<g transform="translate(-290 130)">{"".join(_server(texts))}</g>',
            f'<g transform="translate(-692 540)">{"".join(loops)}</g>',
            *_pair(texts, 98, "write", "watch"),
            *_pair(texts, 492, "watch", "write"),
        )
    )
    return _svg("wide", "0 0 1000 360", wide, texts) + _svg("tall", "-2 0 364 894", stacked, texts)


def _svg(name: str, view: str, body: str, texts: Mapping[str, str]) -> str:
    label = html.escape(texts["label"])
    return (
        f'<svg class="{name}" viewBox="{view}" role="img" aria-label="{label}">'
        f'<defs><marker id="tip-{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M1 1 9 5 1 9" class="tip"/></marker></defs>'
        f"{body.replace('#tip', f'#tip-{name}')}</svg>"
    )


def _pair(texts: Mapping[str, str], top: int, down: str, up: str) -> Iterator[str]:
    """Yield an arrow down and one up, with their names at the sides."""
    yield _arrow(f"M164 {top}V{top + 32}")
    yield _arrow(f"M196 {top + 32}V{top}")
    yield _text(152, top + 21, texts[down], "label end")
    yield _text(208, top + 21, texts[up], "label start")


def _clients(texts: Mapping[str, str]) -> Iterator[str]:
    yield from _boxes_of_clients(texts)
    yield _arrow("M201 168H284")
    yield _arrow("M284 194H201")
    yield _text(243, 157, texts["write"], "label")
    yield _text(243, 218, texts["watch"], "label")


def _boxes_of_clients(texts: Mapping[str, str]) -> Iterator[str]:
    yield _box(1, 136, 196, 88, "plain")
    yield _text(99, 175, texts["clients"], "name")
    yield _text(99, 199, texts["clients_note"], "note")


def _server(texts: Mapping[str, str]) -> Iterator[str]:
    yield _box(290, 6, 360, 348, "main")
    yield _text(470, 48, texts["server"], "name large")
    steps = texts["steps"].split("|")
    for number, step in enumerate(steps):
        top = 72 + number * 36
        yield _box(_STEPS_LEFT, top, _STEPS_WIDTH, 28, "step", 14)
        yield _text(_STEPS_LEFT + _STEPS_WIDTH // 2, top + 19, step, "note strong")
    yield '<path class="store" d="M394 278v46c0 8 34 14 76 14s76-6 76-14v-46"/>'
    yield '<ellipse class="store" cx="470" cy="278" rx="76" ry="14"/>'
    yield _text(470, 317, texts["store"], "note strong")


def _loop(number: int, texts: Mapping[str, str]) -> str:
    name = _LOOPS[number]
    top = 12 + number * _LOOP_STEP
    middle = top + _LOOP_HEIGHT // 2
    parts = (
        _box(745, top, 254, _LOOP_HEIGHT, "own" if name == "operator" else "plain"),
        _text(816, middle - 5, texts[name], "name start"),
        _text(816, middle + 18, texts[f"{name}_note"], "note start"),
        # A circle with a tip: a loop.
        f'<path class="loop" d="M{789} {middle - 10}a14 14 0 1 0 3 9" marker-start="url(#tip)"/>',
    )
    return "".join(parts)


def _arrows_of_loops(texts: Mapping[str, str]) -> Iterator[str]:
    for number in range(len(_LOOPS)):
        middle = 12 + number * _LOOP_STEP + _LOOP_HEIGHT // 2
        yield _arrow(f"M655 {middle - 9}H738")
        yield _arrow(f"M738 {middle + 9}H655")
    first = 12 + _LOOP_HEIGHT // 2
    yield _text(697, first - 17, texts["watch"], "label")
    yield _text(697, first + 29, texts["write"], "label")


def _box(x: int, y: int, width: int, height: int, name: str, radius: int = 12) -> str:
    return f'<rect class="{name}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}"/>'


def _text(x: int, y: int, text: str, name: str) -> str:
    return f'<text class="{name}" x="{x}" y="{y}">{html.escape(text)}</text>'


def _arrow(path: str) -> str:
    return f'<path class="arrow" d="{path}" marker-end="url(#tip)"/>'
