"""`build_object`: the smallest valid object of a kind, with the fields that a test specifies."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, TypeVar, overload

from sampan.registry.definition import ResourceDefinition
from sampan.resource import Object, object_type
from sampan.testing.generated.repair import smallest_object
from sampan.testing.generated.subject import subject_of
from sampan.wire import json

T = TypeVar("T")


@overload
def build_object(what: type[T], name: str = "", *, definitions: Iterable[ResourceDefinition] = (), **fields: Any) -> T:
    """Return an object of a declared class."""


@overload
def build_object(what: Any, name: str = "", *, definitions: Iterable[ResourceDefinition] = (), **fields: Any) -> Object:
    """Return an object of a kind, as a dict."""


def build_object(what: Any, name: str = "", *, definitions: Iterable[ResourceDefinition] = (), **fields: Any) -> Any:
    """Return the smallest valid object of a kind, with these fields set.

    Fields are merged: `spec={"replicas": 3}` keeps the other fields of the spec. None removes a field. A declared class
    gives an object of that class. The result is not checked again, so a test can also build an invalid object. Raises
    `UnknownKind`, `NotGenerated`.
    """
    found = merged(smallest_object(subject_of(what, definitions), name), fields)
    return object_type(what).decode(json.encode(found)) if isinstance(what, type) else found


def merged(value: Any, change: Any) -> Any:
    """Return a value with a change applied, as a JSON merge patch does."""
    if not isinstance(value, Mapping) or not isinstance(change, Mapping):
        return deepcopy(change)
    found = {key: deepcopy(each) for key, each in value.items()}
    for key, each in change.items():
        if each is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), each) if isinstance(each, Mapping) else deepcopy(each)
    return found
