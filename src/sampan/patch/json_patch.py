"""JSON patch (RFC 6902), as Kubernetes applies it.

Differences to the RFC, due to the library in Kubernetes: negative indices count from the end, `replace` adds
an absent field, and `test` for null passes on an absent field.
Source: evanphx/json-patch patch.go (v4); apiserver pkg/endpoints/handlers/patch.go (1.36).
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

import orjson

from sampan.core.deep_json import copied, dumps
from sampan.core.errors import bad_request, request_entity_too_large
from sampan.core.go_text import invalid_number, unmarshal_text
from sampan.core.json.deep_cut import cut
from sampan.core.json.deep_decode import inflate
from sampan.core.json.values import same
from sampan.core.numbers.integers import parse_integer
from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.patch.errors import not_applicable, result_object

OPERATIONS_MAX = 10_000
"""Maximum number of operations in one patch. A longer patch is rejected with 413."""
COPY_BYTES_MAX = 3 * 1024 * 1024
"""Maximum number of JSON bytes that all `copy` operations of one patch together may add."""

_FIELDS = ("op", "path", "from", "value")
_operation_of = re.compile(r'duplicate field "\[(\d+)\]').match
_is_index = re.compile(r"[+-]?[0-9]+").fullmatch


class NotApplicableError(Exception):
    """An operation does not fit the document; the message names the operation and the cause."""


class MissingValueError(NotApplicableError):
    """The value at the path of an operation does not exist."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text}: missing value")


class TestFailedError(NotApplicableError):
    """A `test` operation failed."""

    def __init__(self, pointer: str) -> None:
        super().__init__(f"testing value {pointer} failed: test failed")


def apply(doc: Object, patch: Any) -> Object:
    """Return a new object: `doc` after all operations of `patch`, in order.

    The result shares nothing with either. Raises 400 when the patch is malformed, 413 when it is too long, and 422
    when an operation or test fails.
    """
    try:
        return apply_or_explain(doc, patch)
    except NotApplicableError:
        raise not_applicable() from None


def apply_or_explain(doc: Object, patch: Any) -> Object:
    """Apply a patch like `apply`, but raise `NotApplicableError` with the details when an operation fails."""
    check(patch)
    whole_doc, is_doc_deep = _whole(doc)
    patch, is_patch_deep = _whole(patch or [])
    state = _State(whole_doc)
    for operation in patch:
        kind = (operation or {}).get("op")
        run = _OPERATIONS.get(kind) if isinstance(kind, str) else None
        if run is None:
            raise NotApplicableError(f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}")
        run(state, operation)
    if is_doc_deep or is_patch_deep or any(map(_may_add_levels, patch)):
        try:
            state.doc = cut(state.doc)
        except ValueError:
            raise NotApplicableError("the result is nested too deeply") from None
    return result_object(state.doc)


def _whole(value: Any) -> tuple[Any, bool]:
    """Return a copy of a value with all its levels, and True if it has parts that are nested deeply."""
    try:
        return orjson.loads(orjson.dumps(value)), False
    except orjson.JSONEncodeError:
        return inflate(copied(value)), True


def _may_add_levels(operation: Any) -> bool:
    """Return True if an operation may give the document more levels."""
    return (operation or {}).get("op") in ("copy", "move") or isinstance((operation or {}).get("value"), dict | list)


def check(patch: Any) -> None:
    """Check that `patch` is a JSON patch. Raises 400 or 413."""
    if patch is None:
        return
    if not isinstance(patch, list):
        raise _malformed(patch, "[]handlers.jsonPatchOp")
    for operation in patch:
        if operation is None:
            continue
        if not isinstance(operation, dict):
            raise _malformed(operation, "handlers.jsonPatchOp")
        for name in ("op", "path", "from"):
            value = operation.get(name)
            if value is not None and not isinstance(value, str):
                raise _malformed(value, "string", field=f"jsonPatchOp.{name}")
    # After the form, because Kubernetes reports a malformed patch (400) before a long one (413).
    if len(patch) > OPERATIONS_MAX:
        raise request_entity_too_large(
            f"The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {len(patch)}"
        )


def strict_errors(patch: list[Any], duplicates: list[str]) -> list[str]:
    """Return the errors of strict field validation, in the order of the operations: their unknown fields, and the
    `duplicates` (`duplicate field "[1].path"`).
    """
    found = [
        (index, f'unknown field "[{index}].{name}"')
        for index, operation in enumerate(patch)
        if isinstance(operation, dict)
        for name in operation
        if name not in _FIELDS
    ]
    for fault in duplicates:
        match = _operation_of(fault)
        found.append((int(match[1]) if match else len(patch), fault))
    return [f"json patch {fault}" for _, fault in sorted(found, key=itemgetter(0))]


def _malformed(value: Any, go_type: str, *, field: str = "") -> Exception:
    return bad_request(f"error decoding patch: {unmarshal_text(value, go_type, field=field)}")


class _State:
    """Document being patched, and the bytes added by `copy` operations so far."""

    __slots__ = ("copied_bytes", "doc")

    def __init__(self, doc: Any) -> None:
        self.doc = doc
        self.copied_bytes = 0

    def find(self, operation: Object, field: str, missing: str) -> tuple[Any, str]:
        """Return the dict or list that contains the target of a pointer, and the last token of the pointer.

        `missing` is the error message if it does not exist; {} in it is replaced by the pointer.
        """
        pointer = operation.get(field)
        if pointer is None:
            raise MissingValueError(_no_pointer(operation["op"], field))
        tokens = pointer.split("/")
        # A pointer without a slash has no container, so it fails as in Go.
        container = self.doc if len(tokens) > 1 else None
        for token in tokens[1:-1]:
            if not isinstance(container, dict | list):
                break
            try:
                container = _get(container, _unescape(token))
            except NotApplicableError:
                container = None
        if not isinstance(container, dict | list):
            raise MissingValueError(missing.format(pointer))
        return container, _unescape(tokens[-1])


def _no_pointer(kind: str, field: str) -> str:
    text = f"{kind} operation failed to decode {field}"
    if field == "from":
        return f"{text}: operation, missing from field"
    return text if kind in ("add", "remove", "copy") else f"{text}: operation missing path field"


def _unescape(token: str) -> str:
    # In this order: `~01` stands for `~1`, not for a slash (RFC 6901, 4).
    return token.replace("~1", "/").replace("~0", "~") if "~" in token else token


def _index(items: list[Any], token: str, length: int) -> int:
    """Parse an index below `length`. Raises `NotApplicableError` when it is invalid or out of range."""
    if not _is_index(token):
        raise NotApplicableError(invalid_number("Atoi", token))
    try:
        given = parse_integer(token, function="Atoi")
    except ValueError as error:
        raise NotApplicableError(str(error)) from None
    # The Go library accepts negative indices, counted from the end, although RFC 6902 does not.
    index = given + length if given < 0 else given
    if not 0 <= index < length:
        raise NotApplicableError(f"Unable to access invalid index: {given}: invalid index referenced")
    return index


def _get(container: Any, token: str) -> Any:
    if isinstance(container, dict):
        return container.get(token)
    return container[_index(container, token, len(container))]


def _insert(container: Any, token: str, value: Any) -> None:
    if isinstance(container, dict):
        container[token] = value
    elif token == "-":
        container.append(value)
    elif not _is_index(token):
        text = invalid_number("Atoi", token)
        raise NotApplicableError(f"value was not a proper array index: '{token}': {text}")
    else:
        container.insert(_index(container, token, len(container) + 1), value)


def _delete(container: Any, token: str) -> None:
    if isinstance(container, list):
        del container[_index(container, token, len(container))]
    elif token in container:
        del container[token]
    else:
        raise MissingValueError(f"Unable to remove nonexistent key: {token}")


@contextmanager
def _error_context(where: str) -> Iterator[None]:
    """Prefix the errors that are raised inside the context with `where`."""
    try:
        yield
    except NotApplicableError as error:
        raise NotApplicableError(f"{where}: {error}") from None


def _add(state: _State, operation: Object) -> None:
    container, token = state.find(operation, "path", 'add operation does not apply: doc is missing path: "{}"')
    with _error_context(f"error in add for path: '{operation['path']}'"):
        # A copy, because later operations may change the document, and the patch is applied again after a conflict.
        _insert(container, token, copy_json(operation.get("value")))


def _remove(state: _State, operation: Object) -> None:
    place = state.find(operation, "path", 'remove operation does not apply: doc is missing path: "{}"')
    with _error_context(f"error in remove for path: '{operation['path']}'"):
        _delete(*place)


def _replace(state: _State, operation: Object) -> None:
    value = copy_json(operation.get("value"))
    pointer = operation.get("path")
    if pointer == "":
        if not isinstance(value, dict | list):
            raise NotApplicableError("replace operation value must be object or array")
        state.doc = value
        return
    container, token = state.find(operation, "path", "replace operation does not apply: doc is missing path: {}")
    if isinstance(container, dict):
        container[token] = value
        return
    try:
        index = _index(container, token, len(container))
    except NotApplicableError:
        raise MissingValueError(f"replace operation does not apply: doc is missing key: {pointer}") from None
    container[index] = value


def _move(state: _State, operation: Object) -> None:
    container, token = state.find(operation, "from", "move operation does not apply: doc is missing from path: {}")
    with _error_context(f"error in move for path: '{token}'"):
        value = _get(container, token)
        # Deleted before the destination is resolved: the destination pointer applies to the document without the value.
        _delete(container, token)
    missing = "move operation does not apply: doc is missing destination path: {}"
    container, token = state.find(operation, "path", missing)
    with _error_context(f"error in move for path: '{operation['path']}'"):
        _insert(container, token, value)


def _copy(state: _State, operation: Object) -> None:
    source = state.find(operation, "from", "copy operation does not apply: doc is missing from path: {}")
    with _error_context(f"error in copy for from: '{operation['from']}'"):
        value = _get(*source)
    missing = "copy operation does not apply: doc is missing destination path: {}"
    container, token = state.find(operation, "path", missing)
    # The limit stops a small patch that doubles the document with each `copy`.
    if value is not None:
        state.copied_bytes += _size_bytes(value)
        if state.copied_bytes > COPY_BYTES_MAX:
            raise NotApplicableError(
                f"Unable to complete the copy, the accumulated size increase of copy is {state.copied_bytes}, "
                f"exceeding the limit {COPY_BYTES_MAX}"
            )
    with _error_context("error while adding value during copy"):
        _insert(container, token, copy_json(value))


def _size_bytes(value: Any) -> int:
    """Return the size of a value as JSON. Raises `NotApplicableError` if copies have made it too deep to encode."""
    try:
        return len(orjson.dumps(value))
    except orjson.JSONEncodeError:
        pass
    try:
        return len(dumps(cut(copied(value))))
    except ValueError:
        raise NotApplicableError("Unable to complete the copy, the value is nested too deeply") from None


def _test(state: _State, operation: Object) -> None:
    pointer = operation.get("path")
    if pointer == "":
        found = state.doc
    else:
        place = state.find(operation, "path", "test operation does not apply: is missing path: {}")
        with _error_context(f"error in test for path: '{pointer}'"):
            found = _get(*place)
    if not _same(found, operation.get("value")):
        raise TestFailedError(pointer or "")


def _same(found: Any, value: Any) -> bool:
    try:
        return same(found, value)
    except RecursionError:
        return same(cut(copied(found)), cut(copied(value)))


_OPERATIONS: dict[str, Callable[[_State, Object], None]] = {
    "add": _add,
    "copy": _copy,
    "move": _move,
    "remove": _remove,
    "replace": _replace,
    "test": _test,
}
