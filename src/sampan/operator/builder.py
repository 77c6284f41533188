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
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar, overload

from sampan.informer.informer import Informer
from sampan.informer.ref import Ref
from sampan.informer.store.index import IndexFunction
from sampan.operator.caches.cached_client import declared_type, resource_info
from sampan.operator.controller import Controller, ControllerOptions
from sampan.operator.handlers import MapFunction, Priority, for_object, for_owner
from sampan.operator.manager import Manager
from sampan.operator.pausing import pause_of
from sampan.operator.predicates import Predicate
from sampan.operator.queue import RateLimiter
from sampan.operator.reconciler import ReconcileFunction, Reconciler
from sampan.operator.request import Request
from sampan.operator.rights import check_writes
from sampan.operator.source import KindSource, PeriodicSource, Source
from sampan.resource import Object, ObjectType, ResourceInfo

T = TypeVar("T")

Kind = ResourceInfo | ObjectType[Any] | type[Any]
"""Names a kind: a declared class, its `ObjectType`, or a `ResourceInfo` (objects are dicts)."""


class BuildError(ValueError):
    """The description of a controller is incomplete; the message names the missing part."""


@dataclass(frozen=True, slots=True)
class _Watch:
    kind: Kind
    map_function: MapFunction[Any]
    predicates: tuple[Predicate[Any], ...]
    metadata_only: bool
    priority: Priority[Any] = 0


class Builder:
    """Collects the parts of a controller; `complete` creates it. All other methods return the builder, for chaining."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._for: _Watch | None = None
        self._owned: list[tuple[_Watch, bool]] = []
        self._watches: list[_Watch] = []
        self._sources: list[Source] = []
        self._written: list[tuple[Kind, tuple[str, ...], str]] = []
        self._indexes: list[tuple[Kind, str, IndexFunction[Any]]] = []
        self._predicates: tuple[Predicate[Any], ...] = ()
        self._period_s = 0.0
        self._name = ""
        self._options = ControllerOptions()

    def for_(
        self,
        kind: Kind,
        *,
        predicates: Iterable[Predicate[Any]] = (),
        metadata_only: bool = False,
        priority: Priority[Any] = 0,
    ) -> Self:
        """Set the kind that is reconciled. Raises `BuildError` on the second call.

        `metadata_only`: receive and keep only metadata, for a reconciler that needs no more; read it with
        `manager.client.metadata(kind)`. `manager.client.resource(kind)` then reads from the server.

        `priority`, of all watches: a number, or a function of the changed object's `Ref`. The queue returns the highest
        first. Objects that exist at the start have a priority that is lower by 100, so that changes go first.
        """
        if self._for is not None:
            raise BuildError("for_ may be called only once: a controller reconciles one kind; use watches for others")
        resource_info(kind)
        self._for = _Watch(kind, for_object, tuple(predicates), metadata_only, priority)
        return self

    def owns(
        self,
        kind: Kind,
        *,
        predicates: Iterable[Predicate[Any]] = (),
        only_controller: bool = True,
        metadata_only: bool = False,
        priority: Priority[Any] = 0,
    ) -> Self:
        """Watch objects of another kind, and reconcile their owners.

        `only_controller`: reconcile only the controlling owner. `metadata_only`: receive and keep only metadata, which
        is enough to find the owner. `priority` as in `for_`.
        """
        resource_info(kind)
        self._owned.append((_Watch(kind, for_object, tuple(predicates), metadata_only, priority), only_controller))
        return self

    def watches(
        self,
        kind: Kind,
        map_function: MapFunction[Any],
        *,
        predicates: Iterable[Predicate[Any]] = (),
        metadata_only: bool = False,
        priority: Priority[Any] = 0,
    ) -> Self:
        """Watch objects of any kind. `map_function` returns the requests for a changed object.

        `priority` as in `for_`.
        """
        resource_info(kind)
        self._watches.append(_Watch(kind, map_function, tuple(predicates), metadata_only, priority))
        return self

    @overload
    def index(self, kind: ResourceInfo, name: str, values: Callable[[Object], Iterable[str]]) -> Self: ...

    @overload
    def index(self, kind: ObjectType[T] | type[T], name: str, values: Callable[[T], Iterable[str]]) -> Self: ...

    def index(self, kind: Kind, name: str, values: Callable[[Any], Iterable[str]]) -> Self:
        """Add an index to the cache of a kind: the objects by the values that the function returns for each.

        Read it with `manager.client.resource(kind).by_index(name, value)`. The index exists from `complete` on, which
        raises `ValueError` if the kind has an index of this name.
        """
        declared = declared_type(kind)

        def of_ref(ref: Ref[Any]) -> Iterable[str]:
            return values(declared.decode(ref.raw))

        self._indexes.append((kind, name, of_ref))
        return self

    def writes(self, kind: Kind, *verbs: str, subresource: str = "") -> Self:
        """Declare that the reconciler writes objects of a kind, for the operator's role.

        `verbs` are of create, update, patch, delete and deletecollection. Server-side apply needs create and patch.
        `sampan bundle` makes the role of these, and `sampan test privileges --declared` compares them with what tests
        needed. Raises `BuildError` for another verb.
        """
        resource_info(kind)
        try:
            check_writes(verbs)
        except ValueError as error:
            raise BuildError(str(error)) from error
        self._written.append((kind, verbs, subresource))
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
        """Set the predicates that events of all watched kinds must pass. They replace those of an earlier call."""
        self._predicates = predicates
        return self

    def named(self, name: str) -> Self:
        """Set the controller's name for logs and metrics. The default is the kind in lower case."""
        self._name = name
        return self

    def with_options(
        self,
        *,
        max_concurrent_reconciles: int = 1,
        rate_limiter: RateLimiter[Request] | None = None,
        reconcile_timeout_s: float | None = None,
        slow_reconcile_s: float = 60.0,
        debounce_s: float = 0.0,
        cache_sync_timeout_s: float = 120.0,
        needs_leader_election: bool = True,
        warm_up: bool = False,
        pausable: bool = True,
    ) -> Self:
        """Set the fields of `ControllerOptions`, which documents them, for this controller. Raises `ValueError`."""
        self._options = ControllerOptions(
            max_concurrent_reconciles=max_concurrent_reconciles,
            rate_limiter=rate_limiter,
            reconcile_timeout_s=reconcile_timeout_s,
            slow_reconcile_s=slow_reconcile_s,
            debounce_s=debounce_s,
            cache_sync_timeout_s=cache_sync_timeout_s,
            needs_leader_election=needs_leader_election,
            warm_up=warm_up,
            pausable=pausable,
        )
        return self

    def complete(self, reconciler: Reconciler | ReconcileFunction) -> Controller:
        """Create the controller and add it to the manager.

        Raises `BuildError` if a part is missing, `ValueError` if the name is in use, `TypeError`.
        """
        name = self._check()
        controller = self._manager.new_controller(name, reconciler, self._options)
        controller.resource = self._resource()
        for kind, index, function in self._indexes:
            self._manager.informer_for(kind).add_indexer(index, function)
        self._declare_writes()
        own = self._own_watches()
        pausable = self._options.pausable and self._manager.options.pausable
        if own and pausable:
            controller.pause = pause_of([self._informer(watch).indexer.get for watch in own])
        controller.names_objects = bool(own)
        for watch in self._all_watches():
            predicates = (*self._predicates, *watch.predicates)
            source = KindSource(
                self._informer(watch),
                watch.map_function,
                predicates,
                debounce_s=self._options.debounce_s,
                priority=watch.priority,
                pausable=pausable and watch in own,
            )
            controller.watch(source)
        for added in self._sources:
            controller.watch(added)
        if self._for is not None and self._period_s:
            informer = self._informer(self._for)
            available = informer.indexer.has_objects
            controller.watch(PeriodicSource(_keys_of(informer), self._period_s, available=available))
        return controller

    def _declare_writes(self) -> None:
        for kind, verbs, subresource in self._written:
            self._manager.declare_writes(kind, *verbs, subresource=subresource)
        owned = {resource_info(watch.kind) for watch, _ in self._owned}
        made = {resource_info(kind) for kind, verbs, _ in self._written if "create" in verbs}
        if self._for is not None and owned & made:
            # A reference to an owner blocks the owner's deletion, for which some clusters require this right.
            # Source: plugin/pkg/admission/gc (1.36).
            self._manager.declare_writes(self._for.kind, "update", subresource="finalizers")

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

    def _resource(self) -> str:
        """Return the resource of the reconciled objects, or of the watched ones that stand for themselves."""
        own = self._own_watches()
        return str(resource_info(own[0].kind).gvr.group_resource) if own else ""

    def _own_watches(self) -> list[_Watch]:
        """Return the watches whose objects are those of the requests. Other maps may lead to objects of any kind."""
        if self._for is not None:
            return [self._for]
        return [watch for watch in self._watches if watch.map_function is for_object]

    def _all_watches(self) -> list[_Watch]:
        found = [*self._watches]
        if self._for is not None:
            owner = resource_info(self._for.kind)
            found.insert(0, self._for)
            for watch, only_controller in self._owned:
                found.append(replace(watch, map_function=for_owner(owner, only_controller=only_controller)))
        return found

    def _informer(self, watch: _Watch) -> Informer[Any]:
        if watch.metadata_only:
            return self._manager.metadata_informer_for(watch.kind)
        return self._manager.informer_for(watch.kind)


def _keys_of(informer: Informer[Any]) -> Callable[[], Iterable[Request]]:
    return lambda: [Request.of_key(key) for key in informer.indexer.keys()]  # noqa: SIM118  (no dict: a method)
