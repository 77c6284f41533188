"""`Builder`: declares a controller.

    (
        Builder(manager)
        .for_(Network, predicates=[GenerationChanged()])
        .owns(CONFIG_MAPS)
        .recheck_every(300)
        .with_options(max_concurrent_reconciles=4)
        .complete(reconcile)
    )

Source: controller-runtime pkg/builder/controller.go (0.24).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self, TypedDict, Unpack

from sampan.informer.shared_informer import SharedInformer
from sampan.operator.cached_client import resource_info
from sampan.operator.controller import Controller, ControllerOptions
from sampan.operator.handlers import MapFunction, for_object, for_owner
from sampan.operator.manager import Manager
from sampan.operator.predicates import Predicate
from sampan.operator.queue import RateLimiter
from sampan.operator.reconciler import ReconcileFunction, Reconciler
from sampan.operator.request import Request
from sampan.operator.source import KindSource, PeriodicSource, Source
from sampan.resource import ObjectType, ResourceInfo

Kind = ResourceInfo | ObjectType[Any] | type[Any]
"""Names a kind: a declared class, its `ObjectType`, or a `ResourceInfo` (objects are dicts)."""


class BuildError(ValueError):
    """The description of a controller is incomplete; the message names the missing part."""


class OptionFields(TypedDict, total=False):
    """Keyword arguments with the fields of `ControllerOptions`, which documents them."""

    max_concurrent_reconciles: int
    rate_limiter: RateLimiter[Request] | None
    reconcile_timeout_s: float | None
    debounce_s: float
    cache_sync_timeout_s: float
    needs_leader_election: bool
    warm_up: bool


@dataclass(frozen=True, slots=True)
class _Watch:
    kind: Kind
    map_function: MapFunction[Any]
    predicates: tuple[Predicate[Any], ...]
    metadata_only: bool


class Builder:
    """Collects the parts of a controller; `complete` creates it. All other methods return the builder, for chaining."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._for: _Watch | None = None
        self._owned: list[tuple[Kind, bool, tuple[Predicate[Any], ...], bool]] = []
        self._watches: list[_Watch] = []
        self._sources: list[Source] = []
        self._predicates: tuple[Predicate[Any], ...] = ()
        self._period_s = 0.0
        self._name = ""
        self._options = ControllerOptions()

    def for_(self, kind: Kind, *, predicates: Iterable[Predicate[Any]] = ()) -> Self:
        """Set the kind that is reconciled. Raises `BuildError` on the second call."""
        if self._for is not None:
            raise BuildError("for_ may be called only once: a controller reconciles one kind; use watches for others")
        resource_info(kind)
        self._for = _Watch(kind, for_object, tuple(predicates), False)
        return self

    def owns(
        self,
        kind: Kind,
        *,
        predicates: Iterable[Predicate[Any]] = (),
        only_controller: bool = True,
        metadata_only: bool = False,
    ) -> Self:
        """Watch objects of another kind, and reconcile their owners.

        `only_controller`: reconcile only the controlling owner. `metadata_only`: receive and keep only metadata, which
        is enough to find the owner.
        """
        resource_info(kind)
        self._owned.append((kind, only_controller, tuple(predicates), metadata_only))
        return self

    def watches(
        self,
        kind: Kind,
        map_function: MapFunction[Any],
        *,
        predicates: Iterable[Predicate[Any]] = (),
        metadata_only: bool = False,
    ) -> Self:
        """Watch objects of any kind. `map_function` returns the requests for a changed object."""
        resource_info(kind)
        self._watches.append(_Watch(kind, map_function, tuple(predicates), metadata_only))
        return self

    def watches_source(self, source: Source) -> Self:
        """Add another source of requests, for example a `ChannelSource`."""
        self._sources.append(source)
        return self

    def recheck_every(self, period_s: float) -> Self:
        """Reconcile all objects of `for_` periodically, to find changes outside the cluster."""
        if period_s <= 0:
            raise BuildError(f"the period must be positive, not {period_s:g}")
        self._period_s = period_s
        return self

    def with_predicates(self, *predicates: Predicate[Any]) -> Self:
        """Add predicates for all watched kinds."""
        self._predicates = predicates
        return self

    def named(self, name: str) -> Self:
        """Set the controller's name for logs and metrics. The default is the kind in lower case."""
        self._name = name
        return self

    def with_options(self, **options: Unpack[OptionFields]) -> Self:
        """Set options: the fields of `ControllerOptions`. Raises `TypeError`, `ValueError`."""
        self._options = ControllerOptions(**options)
        return self

    def complete(self, reconciler: Reconciler | ReconcileFunction) -> Controller:
        """Create the controller and add it to the manager.

        Raises `BuildError` if a part is missing, `ValueError` if the name is in use, `TypeError`.
        """
        name = self._check()
        controller = self._manager.new_controller(name, reconciler, self._options)
        for watch in self._all_watches():
            predicates = (*self._predicates, *watch.predicates)
            informer, debounce_s = self._informer(watch), self._options.debounce_s
            controller.watch(KindSource(informer, watch.map_function, predicates, debounce_s=debounce_s))
        for source in self._sources:
            controller.watch(source)
        if self._for is not None and self._period_s:
            informer = self._informer(self._for)
            available = informer.indexer.has_objects
            controller.watch(PeriodicSource(_keys_of(informer), self._period_s, available=available))
        return controller

    def _check(self) -> str:
        if self._for is None and self._owned:
            raise BuildError("owns needs for_, which names the kind of the owners")
        if self._for is None and self._period_s:
            raise BuildError("recheck_every needs for_, which names the kind to recheck")
        if self._for is None and not (self._watches or self._sources):
            raise BuildError("nothing is watched: call for_, watches or watches_source")
        if self._for is None and not self._name:
            raise BuildError("a controller without for_ needs a name: call named")
        if self._name or self._for is None:
            return self._name
        return resource_info(self._for.kind).kind.lower()

    def _all_watches(self) -> list[_Watch]:
        found = [*self._watches]
        if self._for is not None:
            owner = resource_info(self._for.kind)
            found.insert(0, self._for)
            for kind, only_controller, predicates, metadata_only in self._owned:
                map_function = for_owner(owner, only_controller=only_controller)
                found.append(_Watch(kind, map_function, predicates, metadata_only))
        return found

    def _informer(self, watch: _Watch) -> SharedInformer[Any]:
        if watch.metadata_only:
            return self._manager.metadata_informer_for(watch.kind)
        return self._manager.informer_for(watch.kind)


def _keys_of(informer: SharedInformer[Any]) -> Callable[[], Iterable[Request]]:
    return lambda: [Request.of_key(key) for key in informer.indexer.keys()]  # noqa: SIM118  (no dict: a method)
