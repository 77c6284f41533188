"""`ObjectType`: the Python type of a resource's objects, with its conversion from and to JSON."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from sampan.resource.info import ResourceInfo, TypedResource
from sampan.wire import json

T = TypeVar("T")

Object = dict[str, Any]
"""An object as plain data, which suits every resource (in Go: `unstructured.Unstructured`)."""


@dataclass(frozen=True, slots=True)
class ObjectType(Generic[T]):
    """A resource and the type of its objects. Clients, informers and listers are generic in it.

    `decode` reads the JSON of one object; `encode` writes the fields that the type defines. `encode_update` writes an
    object that replaces the one that was read: fields that the type does not define keep the values that were read. By
    default, it is the same as `encode`. All raise `ValueError` for invalid input.
    """

    info: ResourceInfo
    decode: Callable[[bytes], T]
    encode: Callable[[T], bytes]
    encode_update: Callable[[T], bytes] = None  # type: ignore[assignment]  # never None: see __post_init__

    def __post_init__(self) -> None:
        if self.encode_update is None:
            object.__setattr__(self, "encode_update", self.encode)


@overload
def dynamic(info: TypedResource[T]) -> ObjectType[T]: ...  # type: ignore[overload-overlap]  # both are dicts


@overload
def dynamic(info: ResourceInfo) -> ObjectType[Object]: ...


def dynamic(info: ResourceInfo) -> ObjectType[Any]:
    """Return the object type of any resource, with dicts as objects."""
    return ObjectType(info, json.decode, json.encode)
