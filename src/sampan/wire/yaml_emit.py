"""Encode YAML as Kubernetes does: sorted keys, lists not indented, strings quoted only when necessary.

Source: go.yaml.in/yaml/v2 encode.go, sorter.go (2.4.3).
"""

import functools
import io
from typing import Any

from yaml._yaml import CEmitter
from yaml.events import (
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from sampan.core.deep_json import dumps, has_leaf
from sampan.core.field import show_float
from sampan.wire.json import EncodeError
from sampan.wire.yaml_scalars import reads_as_string


def encode(value: Any) -> bytes:
    """Encode a JSON value as YAML. One that is nested deeply becomes JSON, which is YAML. Raises
    `EncodeError`.
    """
    if has_leaf(value):
        return dumps(value, sort=True) + b"\n"
    stream = io.BytesIO()
    emitter = CEmitter(stream, allow_unicode=True, encoding="utf-8", width=80, indent=2)
    try:
        emitter.emit(StreamStartEvent(encoding="utf-8"))
        emitter.emit(DocumentStartEvent(explicit=False))
        _emit(emitter, value)
        emitter.emit(DocumentEndEvent(explicit=False))
        emitter.emit(StreamEndEvent())
    except (RecursionError, UnicodeEncodeError) as error:
        raise EncodeError(str(error)) from None
    finally:
        emitter.dispose()
    text = stream.getvalue()
    return text[:-4] if text.endswith(_OPEN_END) else text


_OPEN_END = b"\n...\n"
"""Ending that libyaml, but not Go, writes after a document that ends with empty lines."""


def _emit(emitter: CEmitter, value: Any) -> None:
    if isinstance(value, dict):
        emitter.emit(MappingStartEvent(None, None, True, flow_style=False))
        for key in sorted(value, key=_natural):
            _emit_string(emitter, key)
            _emit(emitter, value[key])
        emitter.emit(MappingEndEvent())
    elif isinstance(value, list):
        emitter.emit(SequenceStartEvent(None, None, True, flow_style=False))
        for item in value:
            _emit(emitter, item)
        emitter.emit(SequenceEndEvent())
    elif isinstance(value, str):
        _emit_string(emitter, value)
    else:
        emitter.emit(ScalarEvent(None, None, (True, True), _plain(value), style=""))


def _emit_string(emitter: CEmitter, text: str) -> None:
    if "\u2028" in text or "\u2029" in text or "\x85" in text:
        style = '"'
    elif "\n" in text:
        style = "|"
    else:
        style = "" if reads_as_string(text) else '"'
    emitter.emit(ScalarEvent(None, None, (True, True), text, style=style))


def _plain(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    raise EncodeError(f"a {type(value).__name__} is not a JSON value")


def _float_text(number: float) -> str:
    """Format a float as it looks after a round trip through JSON, where whole numbers have no decimal point."""
    return str(int(number)) if number.is_integer() and abs(number) < 2**64 else show_float(number)


def _less(a: str, b: str) -> int:
    """Compare keys in Go's order: digits by their value, letters after all other characters. Returns -1, 0 or 1."""
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        if x == y:
            continue
        if x.isalpha() and y.isalpha():
            return -1 if x < y else 1
        if x.isalpha() or y.isalpha():
            return -1 if y.isalpha() else 1
        return _less_at(a, b, index)
    return (len(a) > len(b)) - (len(a) < len(b))


def _number_at(text: str, index: int, start: int) -> tuple[int, int]:
    end = index
    while end < len(text) and "0" <= text[end] <= "9" and end - index < 18:
        end += 1
    number = int(f"{start}{text[index:end]}") if end > index else start
    return number, end


def _less_at(a: str, b: str, index: int) -> int:
    start = 0
    if a[index] == "0" or b[index] == "0":
        before = index - 1
        while before >= 0 and "0" <= a[before] <= "9":
            if a[before] != "0":
                start = 1
                break
            before -= 1
    a_number, a_end = _number_at(a, index, start)
    b_number, b_end = _number_at(b, index, start)
    if a_number != b_number:
        return -1 if a_number < b_number else 1
    if a_end != b_end:
        return -1 if a_end < b_end else 1
    return -1 if a[index] < b[index] else 1


_natural = functools.cmp_to_key(_less)
