"""Views: the fields of an object that a control loop reads, as a class.

    class Claim(msgspec.Struct, rename="camel"):
        access_modes: list[str] = []

    decode = view_decoder(Claim)
    decode(b'{"accessModes":null}').access_modes         # []

Kubernetes' own types have null where a list, a map or a time is empty, because Go encodes it so. Its clients read null
as empty in every field. `msgspec` alone refuses it.
"""

from collections.abc import Callable
from typing import Any, TypeVar, get_origin

import msgspec

T = TypeVar("T")


def view_decoder(view: type[T]) -> Callable[[bytes | msgspec.Raw], T]:
    """Return a function that decodes JSON as the class `view`. A field that is null gets its default.

    The function raises `msgspec.ValidationError` for another type, and `msgspec.DecodeError` for invalid JSON.
    """
    decode = msgspec.json.Decoder(view).decode
    empty: Any = [] if get_origin(view) in (list, tuple) else {}

    def decoded(body: bytes | msgspec.Raw) -> T:
        try:
            return decode(body)
        except msgspec.ValidationError:
            # Rare, so null costs nothing where it is absent.
            value = without_nulls(msgspec.json.decode(body))
            return decode(msgspec.json.encode(empty if value is None else value))

    return decoded


def view_of(value: Any, view: type[T]) -> T:
    """Return decoded JSON as the class `view`; as in `view_decoder`, a field that is null gets its default."""
    return msgspec.convert(without_nulls(value), view)


def without_nulls(value: Any) -> Any:
    """Return a copy of decoded JSON without the fields that are null, at any depth."""
    if isinstance(value, dict):
        return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(inner) for inner in value]
    return value
