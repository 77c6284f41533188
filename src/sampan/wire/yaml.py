"""Encode and decode YAML bodies. A body is decoded to the value of its JSON form, as in Kubernetes.

The decoder processes libyaml's events with its own stack. Depth is limited, and so is the size that copied aliases may
add, so that a small body cannot expand to a large value.
Source: sigs.k8s.io/yaml, go.yaml.in/yaml/v2 decode.go (1.36 uses 1.6.0 and 2.4.3).
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from yaml import CSafeLoader
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamStartEvent,
)
from yaml.reader import ReaderError
from yaml.scanner import ScannerError

from sampan.core.deep_json import DEPTH_MAX, LEVELS_MAX
from sampan.core.field import quote
from sampan.core.json.deep_cut import cut
from sampan.wire import json
from sampan.wire.json import DecodeError
from sampan.wire.yaml_emit import encode
from sampan.wire.yaml_scalars import NULL_KEY, key_text, scalar_value

__all__ = ["decode", "decode_file_strict", "decode_strict", "encode"]

_ALIASED_NODES_MAX: Final = 100_000
_ALIASED_SIZE_MAX: Final = 8 * 1024 * 1024
"""Limits of the nodes and characters that aliases may add to a document."""

_MERGE: Final = object()
_NO_KEY: Final = object()


class _Sized:
    """Complete value with its number of nodes, characters and levels."""

    __slots__ = ("height", "nodes", "size", "value")

    def __init__(self, value: Any, nodes: int, size: int, height: int) -> None:
        self.value = value
        self.nodes = nodes
        self.size = size
        self.height = height


class _Open:
    """Map or list that is not complete yet."""

    __slots__ = ("anchor", "height", "key", "line", "nodes", "shown_key", "size", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None, line: int) -> None:
        self.value = value
        self.anchor = anchor
        self.line = line
        self.key: Any = _NO_KEY
        self.shown_key = ""
        self.nodes = 1
        self.size = 0
        self.height = 1


class _Builder:
    """Builder of the value of one document."""

    def __init__(self, text: str | None = None) -> None:
        """`text` is the document, if it may have escapes that YAML 1.1 does not have."""
        self.duplicates: list[str] = []
        self._text = text
        self._stack: list[_Open] = []
        self._anchors: dict[str, _Sized | None] = {}
        self._aliased_nodes = 0
        self._aliased_size = 0

    def read(self, events: Iterator[Any]) -> Any:
        """Return the value of a document; `events` are those after its start."""
        for event in events:
            kind = type(event)
            if kind is ScalarEvent:
                done = self._scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._open({} if kind is MappingStartEvent else [], event)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                opened = self._stack.pop()
                done = _Sized(opened.value, opened.nodes, opened.size, opened.height)
                if opened.anchor is not None:
                    self._anchors[opened.anchor] = done
                line = opened.line
                if not self._stack:
                    return cut(done.value) if done.height > LEVELS_MAX else done.value
                self._add(done, line)
                continue
            elif kind is AliasEvent:
                done = self._alias(event)
            else:
                if kind is DocumentStartEvent:
                    _check_version(event)
                continue
            if done is None:
                continue
            if not self._stack:
                return done.value
            self._add(done, event.start_mark.line + 1)
        return None

    def _open(self, value: dict[str, Any] | list[Any], event: Any) -> None:
        if len(self._stack) >= DEPTH_MAX:
            raise DecodeError(f"yaml: exceeded max depth of {DEPTH_MAX}")
        if self._stack and self._expects_key():
            raise DecodeError(f"yaml: invalid map key: must be a scalar, but is {_kind_of(value)}")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._stack.append(_Open(value, event.anchor, event.start_mark.line + 1))

    def _expects_key(self) -> bool:
        top = self._stack[-1]
        return top.key is _NO_KEY and isinstance(top.value, dict)

    def _scalar(self, event: Any) -> _Sized | None:
        """Return a scalar value; or record a key and return None."""
        text: str = event.value
        plain: bool = event.implicit[0]
        if self._text is not None and event.style == '"':
            _check_escapes(self._text, event)
        if self._stack and self._expects_key():
            self._note_key(text, event.tag, plain)
            if event.anchor is not None:
                self._anchors[event.anchor] = _Sized(scalar_value(text, event.tag, plain=plain), 1, len(text), 0)
            return None
        done = _Sized(scalar_value(text, event.tag, plain=plain), 1, len(text), 0)
        if event.anchor is not None:
            self._anchors[event.anchor] = done
        return done

    def _note_key(self, text: str, tag: str | None, plain: bool) -> None:
        top = self._stack[-1]
        top.nodes += 1
        top.size += len(text)
        if text == "<<" and (plain or tag == "tag:yaml.org,2002:merge"):
            top.key = _MERGE
        else:
            top.key, top.shown_key = key_text(text, tag, plain=plain)

    def _alias(self, event: Any) -> _Sized | None:
        """Return a copy of the aliased value; or record a key and return None."""
        name = event.anchor
        if name not in self._anchors:
            raise DecodeError(f"yaml: unknown anchor '{name}' referenced")
        named = self._anchors[name]
        if named is None:
            raise DecodeError(f"yaml: anchor '{name}' value contains itself")
        self._aliased_nodes += named.nodes
        self._aliased_size += named.size
        if self._aliased_nodes > _ALIASED_NODES_MAX or self._aliased_size > _ALIASED_SIZE_MAX:
            raise DecodeError("yaml: document contains excessive aliasing")
        if len(self._stack) + named.height > DEPTH_MAX or named.height > LEVELS_MAX:
            raise DecodeError(f"yaml: exceeded max depth of {DEPTH_MAX}")
        if self._stack and self._expects_key():
            if isinstance(named.value, dict | list):
                raise DecodeError(f"yaml: invalid map key: must be a scalar, but is {_kind_of(named.value)}")
            self._note_key(_key_of(named.value), None, False)
            return None
        return _Sized(_copy(named.value), named.nodes, named.size, named.height)

    def _add(self, done: _Sized, line: int) -> None:
        """Add a complete value to the innermost open collection."""
        top = self._stack[-1]
        top.nodes += done.nodes
        top.size += done.size
        top.height = max(top.height, done.height + 1)
        if isinstance(top.value, list):
            top.value.append(done.value)
            return
        if top.key is _MERGE:
            _merge(top.value, done.value)
        else:
            if top.key in top.value:
                shown = top.shown_key or quote(top.key)
                self.duplicates.append(f"  line {line}: key {shown} already set in map")
            top.value[top.key] = done.value
        top.key = _NO_KEY


def _kind_of(value: dict[str, Any] | list[Any]) -> str:
    return "a map" if isinstance(value, dict) else "a list"


def _key_of(value: Any) -> str:
    if value is None:
        raise DecodeError(NULL_KEY)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _copy(value: Any) -> Any:
    """Return a deep copy. The depth is at most `LEVELS_MAX`."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value


def _merge(target: dict[str, Any], value: Any) -> None:
    """Merge `<<`: the entries of a map, or of a list of maps in which earlier maps win."""
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise DecodeError("yaml: map merge requires map or sequence of maps as the value")
    for source in reversed(sources):
        target.update(source)


def decode(body: bytes) -> Any:
    """Decode one YAML document (or JSON). The last of duplicate keys wins. Raises `DecodeError`."""
    return _read(body)[0]


def decode_strict(body: bytes) -> tuple[Any, list[str]]:
    """Decode one YAML document and list its duplicate keys, in one message as in Kubernetes. Raises `DecodeError`."""
    value, duplicates = _read(body)
    return value, ["\n".join(("yaml: unmarshal errors:", *duplicates))] if duplicates else []


def decode_file_strict(text: bytes) -> tuple[Any, list[str]]:
    """Decode a file of YAML or JSON, and list its duplicate keys in the format's own form. Raises `DecodeError`.

    Source: apimachinery pkg/runtime/serializer/recognizer/recognizer.go (1.36).
    """
    if text.lstrip().startswith(b"{"):
        try:
            return json.decode_strict(text)
        except DecodeError:
            pass  # The text may still be YAML, which also has braces.
    return decode_strict(text)


def _read(body: bytes) -> tuple[Any, list[str]]:
    try:
        loader = CSafeLoader(body)
        try:
            builder = _Builder(body.decode("utf-8", "replace") if b"\\/" in body else None)
            events = _events(loader)
            value = builder.read(events)
            _reject_more_documents(events)
        finally:
            loader.dispose()
    except ReaderError as error:
        raise DecodeError(f"yaml: {error.reason}") from None
    except MarkedYAMLError as error:
        if error.problem == _NESTED:
            return _read_nested(body)
        raise DecodeError(f"yaml: {_where(error)}{error.problem or 'unknown problem parsing YAML content'}") from None
    except YAMLError as error:
        if str(error) == _NESTED:
            return _read_nested(body)
        raise DecodeError(f"yaml: {error}") from None
    except UnicodeDecodeError:
        raise DecodeError("yaml: invalid Unicode character") from None
    return value, builder.duplicates


_NESTED: Final = "exceeded maximum nesting depth"
_LIBYAML_DEPTH_MAX: Final = 1000


def _read_nested(body: bytes) -> tuple[Any, list[str]]:
    """Decode a document with more levels than libyaml reads. Only JSON is possible: tools send no other such YAML."""
    try:
        return json.decode_strict(body)
    except DecodeError as error:
        depth_max = DEPTH_MAX if str(error).endswith("exceeded max depth") else _LIBYAML_DEPTH_MAX
        raise DecodeError(f"yaml: exceeded max depth of {depth_max}") from None


def _check_version(event: Any) -> None:
    """Refuse a document of another version of YAML. libyaml also reads 1.2."""
    if event.version not in (None, (1, 1)):
        raise DecodeError(f"yaml: {_line(event.start_mark.line)}found incompatible YAML document")


def _check_escapes(text: str, event: Any) -> None:
    """Refuse an escaped slash, which JSON and YAML 1.2 have. libyaml accepts it."""
    start = event.start_mark.index
    for found in _escape(text, start, event.end_mark.index):
        if found.group() == "\\/":
            line = event.start_mark.line + text.count("\n", start, found.start())
            raise DecodeError(f"yaml: {_line(line + 1 if line else 0)}found unknown escape character")


_escape = re.compile(r"\\.", re.DOTALL).finditer


def _line(number: int) -> str:
    return f"line {number}: " if number else ""


def _events(loader: CSafeLoader) -> Iterator[Any]:
    while loader.check_event():
        yield loader.get_event()


def _reject_more_documents(events: Iterator[Any]) -> None:
    """Reject a second document unless it is empty (a trailing `---`)."""
    for event in events:
        if type(event) in (StreamStartEvent, DocumentStartEvent, DocumentEndEvent):
            continue
        if type(event) is ScalarEvent and event.value == "" and event.implicit[0]:
            continue
        if event.start_mark.index != event.end_mark.index:
            raise DecodeError("yaml: the body contains more than one document")


def _where(error: MarkedYAMLError) -> str:
    """Return `line N: `, counted as in Go."""
    problem, context = error.problem_mark, error.context_mark
    if problem is not None and problem.line:
        return f"line {problem.line + (1 if isinstance(error, ScannerError) else 0)}: "
    return f"line {context.line}: " if context is not None and context.line else ""
