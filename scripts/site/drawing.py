"""The picture of the front page: clients, the API server with its store, and the loops around it."""

import html
from collections.abc import Iterator, Mapping
from typing import Final

_SIZE: Final = (1000, 360)
_LOOPS: Final = ("controllers", "scheduler", "nodes", "operator")
_LOOP_HEIGHT: Final = 72
_LOOP_STEP: Final = 88
_STEPS_LEFT: Final = 318
_STEPS_WIDTH: Final = 304


def drawing(texts: Mapping[str, str]) -> str:
    """Return the picture as SVG for the page. Its colours are those of the page."""
    width, height = _SIZE
    body = "".join(
        (*_clients(texts), *_server(texts), *(part for number in range(len(_LOOPS)) for part in _loop(number, texts)))
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(texts["label"])}">'
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M1 1 9 5 1 9" class="tip"/></marker></defs>'
        f"{body}</svg>"
    )


def _clients(texts: Mapping[str, str]) -> Iterator[str]:
    yield _box(1, 136, 196, 88, "plain")
    yield _text(99, 175, texts["clients"], "name")
    yield _text(99, 199, texts["clients_note"], "note")
    yield _arrow("M201 168H284")
    yield _arrow("M284 194H201")
    yield _text(243, 157, texts["write"], "label")
    yield _text(243, 218, texts["watch"], "label")


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


def _loop(number: int, texts: Mapping[str, str]) -> Iterator[str]:
    name = _LOOPS[number]
    top = 12 + number * _LOOP_STEP
    middle = top + _LOOP_HEIGHT // 2
    yield _box(745, top, 254, _LOOP_HEIGHT, "own" if name == "operator" else "plain")
    yield _text(816, middle - 5, texts[name], "name start")
    yield _text(816, middle + 18, texts[f"{name}_note"], "note start")
    # A circle with a tip: a loop.
    yield f'<path class="loop" d="M{789} {middle - 10}a14 14 0 1 0 3 9" marker-start="url(#tip)"/>'
    yield _arrow(f"M655 {middle - 9}H738")
    yield _arrow(f"M738 {middle + 9}H655")
    if number == 0:
        yield _text(697, middle - 17, texts["watch"], "label")
        yield _text(697, middle + 29, texts["write"], "label")


def _box(x: int, y: int, width: int, height: int, name: str, radius: int = 12) -> str:
    return f'<rect class="{name}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}"/>'


def _text(x: int, y: int, text: str, name: str) -> str:
    return f'<text class="{name}" x="{x}" y="{y}">{html.escape(text)}</text>'


def _arrow(path: str) -> str:
    return f'<path class="arrow" d="{path}" marker-end="url(#tip)"/>'
