"""Predicates: select the events that a controller handles.

They receive `Ref` records. Attributes (generation, resourceVersion, labels) cost nothing; everything else is decoded
from the bytes. A predicate drops events, not objects: the cache still contains them.

An update with different uids means that the object was deleted and created again: `…Changed` predicates always pass it.

Source: controller-runtime pkg/predicate/predicate.go (0.24).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import msgspec

from sampan.core.json.values import same
from sampan.core.selectors import Selector, parse_labels
from sampan.informer.ref import Ref

T = TypeVar("T")


class Predicate(Generic[T]):
    """Base class that passes every event. Subclasses override single methods. `&`, `|` and `~` combine predicates."""

    def create(self, obj: Ref[T]) -> bool:
        """Return True if an added object passes, also one of the initial list."""
        return True

    def update(self, old: Ref[T], new: Ref[T]) -> bool:
        """Return True if a change passes. In a resync, `old` and `new` are identical."""
        return True

    def delete(self, obj: Ref[T]) -> bool:
        """Return True if a deletion passes."""
        return True

    def __and__(self, other: "Predicate[T]") -> "Predicate[T]":
        return and_(self, other)

    def __or__(self, other: "Predicate[T]") -> "Predicate[T]":
        return or_(self, other)

    def __invert__(self) -> "Predicate[T]":
        return not_(self)


@dataclass(frozen=True)
class PredicateFuncs(Predicate[T]):
    """Predicate made of functions; None passes every event."""

    on_create: Callable[[Ref[T]], bool] | None = None
    on_update: Callable[[Ref[T], Ref[T]], bool] | None = None
    on_delete: Callable[[Ref[T]], bool] | None = None

    def create(self, obj: Ref[T]) -> bool:
        """Call `on_create`."""
        return self.on_create is None or self.on_create(obj)

    def update(self, old: Ref[T], new: Ref[T]) -> bool:
        """Call `on_update`."""
        return self.on_update is None or self.on_update(old, new)

    def delete(self, obj: Ref[T]) -> bool:
        """Call `on_delete`."""
        return self.on_delete is None or self.on_delete(obj)


ONLY_DELETIONS: Final[Predicate[Any]] = PredicateFuncs(lambda _: False, lambda _, __: False)
"""Passes deletions only, for controllers that wait until an object no longer exists."""


def matching(matches: Callable[[Ref[T]], bool]) -> Predicate[T]:
    """Return a predicate of objects that match. An update passes if the old or the new state matches."""
    return PredicateFuncs(matches, lambda old, new: matches(new) or matches(old), matches)


class ResourceVersionChanged(Predicate[Any]):
    """Drops the updates of resyncs, and no other ones."""

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Return True if anything has changed."""
        return old.resource_version != new.resource_version or old.uid != new.uid


class GenerationChanged(Predicate[Any]):
    """Drops updates that do not change the generation: updates of status and metadata, and resyncs.

    Use it only for kinds with a generation. Custom resources with a status subresource have one; ConfigMaps do not, so
    all their updates are dropped. For periodic checks use a `PeriodicSource`, because resyncs are dropped.
    """

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Return True if the desired state has changed."""
        return old.generation != new.generation or old.uid != new.uid


class LabelChanged(Predicate[Any]):
    """Drops updates that do not change the labels."""

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Return True if any label has changed."""
        return old.labels != new.labels or old.uid != new.uid


class AnnotationChanged(Predicate[Any]):
    """Drops updates that do not change the annotations."""

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Return True if any annotation has changed."""
        if old.resource_version == new.resource_version and old.uid == new.uid:
            return False
        return old.uid != new.uid or old.annotations != new.annotations


class FieldChanged(Predicate[Any]):
    """Drops updates that change none of the named fields.

    A path is a string of keys separated by dots (`spec.cidr` or `.spec.cidr`), or a tuple of keys if a key contains a
    dot. Raises `ValueError` for a path without keys, or with an empty one.
    """

    def __init__(self, *paths: str | tuple[str, ...]) -> None:
        self._paths = [tuple(path.removeprefix(".").split(".")) if isinstance(path, str) else path for path in paths]
        for path, keys in zip(paths, self._paths, strict=True):
            if not all(keys) or not keys:
                raise ValueError(f"{path!r} is no path of a field; write spec.cidr, or a tuple of keys")
        self._only_spec = all(path[0] == "spec" for path in self._paths)

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Return True if a named field has changed."""
        if old.uid != new.uid:
            return True
        if old.resource_version == new.resource_version:
            return False
        if self._only_spec and old.generation == new.generation > 0:
            return False  # A change of the spec raises the generation, if the kind has one.
        before, after = msgspec.json.decode(old.raw), msgspec.json.decode(new.raw)
        return any(not same(_field(before, path), _field(after, path)) for path in self._paths)


_ABSENT: Final = object()


def _field(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return _ABSENT
        value = value[key]
    return value


def label_selector(selector: str | Selector) -> Predicate[Any]:
    """Return a predicate of objects that a selector selects. An update passes if the old or the new state is selected.

    Raises `ValueError` for an invalid selector.
    """
    matches = (parse_labels(selector) if isinstance(selector, str) else selector).matches
    return matching(lambda ref: matches(ref.labels))


class _All(Predicate[T]):
    def __init__(self, predicates: tuple[Predicate[T], ...]) -> None:
        self._predicates = predicates

    def create(self, obj: Ref[T]) -> bool:
        return all(predicate.create(obj) for predicate in self._predicates)

    def update(self, old: Ref[T], new: Ref[T]) -> bool:
        return all(predicate.update(old, new) for predicate in self._predicates)

    def delete(self, obj: Ref[T]) -> bool:
        return all(predicate.delete(obj) for predicate in self._predicates)


class _Any(Predicate[T]):
    def __init__(self, predicates: tuple[Predicate[T], ...]) -> None:
        self._predicates = predicates

    def create(self, obj: Ref[T]) -> bool:
        return any(predicate.create(obj) for predicate in self._predicates)

    def update(self, old: Ref[T], new: Ref[T]) -> bool:
        return any(predicate.update(old, new) for predicate in self._predicates)

    def delete(self, obj: Ref[T]) -> bool:
        return any(predicate.delete(obj) for predicate in self._predicates)


def and_(*predicates: Predicate[T]) -> Predicate[T]:
    """Return a predicate that passes events which all predicates pass."""
    return _All(predicates)


def or_(*predicates: Predicate[T]) -> Predicate[T]:
    """Return a predicate that passes events which at least one predicate passes.

    `GenerationChanged` and similar predicates pass every create and delete, so an `or_` with one of them does, too.
    """
    return _Any(predicates)


def not_(predicate: Predicate[T]) -> Predicate[T]:
    """Return a predicate that passes the events which the given predicate drops, including creates and deletes."""
    return PredicateFuncs(
        lambda obj: not predicate.create(obj),
        lambda old, new: not predicate.update(old, new),
        lambda obj: not predicate.delete(obj),
    )
