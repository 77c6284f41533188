"""Predicates: which events a controller does not want to be woken for.

They see `Ref` records: what is at hand there (generation, resourceVersion, labels) costs nothing, everything else is
read from the bytes. A predicate drops events, not objects: the cache has them all the same.

An update where the uid is another one means that the object was deleted and made anew: `…Changed` let it pass always.
Source: controller-runtime pkg/predicate/predicate.go (0.24).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import msgspec

from sampan.core.selectors import Selector, parse_labels
from sampan.informer.ref import Ref

T = TypeVar("T")


class Predicate(Generic[T]):
    """Lets everything pass; subclasses override what they care about. They combine with `&`, `|` and `~`."""

    def create(self, obj: Ref[T]) -> bool:
        """Whether an added object passes (also those of the initial list)."""
        return True

    def update(self, old: Ref[T], new: Ref[T]) -> bool:
        """Whether a change passes; at a resync old and new are the same."""
        return True

    def delete(self, obj: Ref[T]) -> bool:
        """Whether a deletion passes."""
        return True

    def __and__(self, other: "Predicate[T]") -> "Predicate[T]":
        return and_(self, other)

    def __or__(self, other: "Predicate[T]") -> "Predicate[T]":
        return or_(self, other)

    def __invert__(self) -> "Predicate[T]":
        return not_(self)


@dataclass(frozen=True)
class PredicateFuncs(Predicate[T]):
    """A predicate made of functions; what is None lets everything pass."""

    on_create: Callable[[Ref[T]], bool] | None = None
    on_update: Callable[[Ref[T], Ref[T]], bool] | None = None
    on_delete: Callable[[Ref[T]], bool] | None = None

    def create(self, obj: Ref[T]) -> bool:
        """Asks `on_create`."""
        return self.on_create is None or self.on_create(obj)

    def update(self, old: Ref[T], new: Ref[T]) -> bool:
        """Asks `on_update`."""
        return self.on_update is None or self.on_update(old, new)

    def delete(self, obj: Ref[T]) -> bool:
        """Asks `on_delete`."""
        return self.on_delete is None or self.on_delete(obj)


ONLY_DELETIONS: Final[Predicate[Any]] = PredicateFuncs(lambda _: False, lambda _, __: False)
"""For those who wait until something has gone."""


def matching(matches: Callable[[Ref[T]], bool]) -> Predicate[T]:
    """The events of objects that match; an update if the old or the new state does, so that none is lost."""
    return PredicateFuncs(matches, lambda old, new: matches(new) or matches(old), matches)


class ResourceVersionChanged(Predicate[Any]):
    """Drops the updates of resyncs, and no others."""

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Whether anything has changed."""
        return old.resource_version != new.resource_version or old.uid != new.uid


class GenerationChanged(Predicate[Any]):
    """Drops updates that leave the generation as it is: of status and metadata, and resyncs.

    Only for kinds that count a generation (custom resources with a status subresource do, ConfigMaps do not: of those
    it drops every update). With `periodic` re-checks use a `PeriodicSource`, as it drops resyncs.
    """

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Whether the desired state has changed."""
        return old.generation != new.generation or old.uid != new.uid


class LabelChanged(Predicate[Any]):
    """Drops updates that leave the labels as they are."""

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Whether any label has changed."""
        return old.labels != new.labels or old.uid != new.uid


class AnnotationChanged(Predicate[Any]):
    """Drops updates that leave the annotations as they are."""

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Whether any annotation has changed."""
        if old.resource_version == new.resource_version and old.uid == new.uid:
            return False
        return old.uid != new.uid or old.annotations != new.annotations


class FieldChanged(Predicate[Any]):
    """Drops updates that leave all the named fields as they are.

    A path is keys with dots between them (`spec.cidr`), or a tuple of keys where one has a dot in it.
    """

    def __init__(self, *paths: str | tuple[str, ...]) -> None:
        self._paths = [tuple(path.split(".")) if isinstance(path, str) else path for path in paths]
        self._only_spec = all(path[0] == "spec" for path in self._paths)

    def update(self, old: Ref[Any], new: Ref[Any]) -> bool:
        """Whether a named field has changed."""
        if old.uid != new.uid:
            return True
        if old.resource_version == new.resource_version:
            return False
        if self._only_spec and old.generation == new.generation > 0:
            return False  # A change of the spec raises the generation, where there is one.
        before, after = msgspec.json.decode(old.raw), msgspec.json.decode(new.raw)
        return any(_field(before, path) != _field(after, path) for path in self._paths)


_ABSENT: Final = object()


def _field(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return _ABSENT
        value = value[key]
    return value


def label_selector(selector: str | Selector) -> Predicate[Any]:
    """The events of objects that a selector selects; an update if it selects the old or the new state.

    Raises `ValueError` for what is no selector.
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
    """Passes what all let pass."""
    return _All(predicates)


def or_(*predicates: Predicate[T]) -> Predicate[T]:
    """Passes what at least one lets pass.

    Mind that `GenerationChanged` and fellows pass every create and delete: an `or_` with one passes them, too.
    """
    return _Any(predicates)


def not_(predicate: Predicate[T]) -> Predicate[T]:
    """Passes what the other drops, of creates and deletes too."""
    return PredicateFuncs(
        lambda obj: not predicate.create(obj),
        lambda old, new: not predicate.update(old, new),
        lambda obj: not predicate.delete(obj),
    )
