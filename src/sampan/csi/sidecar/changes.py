"""`relevant_changes`: predicate for the updates that a sidecar handles."""

from collections.abc import Callable
from typing import Any

from sampan.informer.ref import Ref
from sampan.operator.predicates import Predicate, PredicateFuncs
from sampan.wire import json


def relevant_changes(relevant: Callable[[Any], Any]) -> Predicate[Any]:
    """Return a predicate that drops updates after which `relevant` returns the same as before. Resyncs pass.

    A failed call has its own retry delay, so the error that a sidecar records must not lead to another call.
    """

    def is_relevant(old: Ref[Any], new: Ref[Any]) -> bool:
        return old.resource_version == new.resource_version or _value(old) != _value(new)

    def _value(ref: Ref[Any]) -> Any:
        return relevant(json.decode(ref.raw))

    return PredicateFuncs(None, is_relevant, None)
