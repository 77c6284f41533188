"""`ObjectType`: how the objects of a resource look in a program, and how they become bytes and come back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sampan.resource.info import ResourceInfo
from sampan.wire import json

T = TypeVar("T")

Object = dict[str, Any]
"""An object as plain data, the form that suits every resource (in Go: `unstructured.Unstructured`)."""


@dataclass(frozen=True, slots=True)
class ObjectType(Generic[T]):
    """A resource and the type of its objects. Clients, informers and listers are generic in it.

    `decode` reads the JSON of one object, `encode` writes what the type knows of it. `encode_update` writes an object
    that replaces the one that was read: fields that the type does not know stay as they were read. By default it is
    `encode`. All raise `ValueError` for what they cannot take.
    """

    info: ResourceInfo
    decode: Callable[[bytes], T]
    encode: Callable[[T], bytes]
    encode_update: Callable[[T], bytes] = None  # type: ignore[assignment]  # never None: see __post_init__

    def __post_init__(self) -> None:
        if self.encode_update is None:
            object.__setattr__(self, "encode_update", self.encode)


def dynamic(info: ResourceInfo) -> ObjectType[Object]:
    """The objects of any resource, as dicts."""
    return ObjectType(info, json.decode, json.encode)
