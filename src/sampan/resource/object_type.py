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

    `decode` reads the JSON of one object, `encode` writes it. Both raise `ValueError` for what they cannot take.
    """

    info: ResourceInfo
    decode: Callable[[bytes], T]
    encode: Callable[[T], bytes]


def dynamic(info: ResourceInfo) -> ObjectType[Object]:
    """The objects of any resource, as dicts."""
    return ObjectType(info, json.decode, json.encode)
