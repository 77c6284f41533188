"""`ClustersBuilder`: declares a controller that reconciles the objects of all clusters with one function."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self, cast

from sampan.informer.informer import Informer
from sampan.informer.ref import Ref
from sampan.operator.builder import BuildError, Kind
from sampan.operator.caches.cached_client import resource_info
from sampan.operator.clusters.clusters import Clusters, Member
from sampan.operator.controller import ControllerOptions
from sampan.operator.handlers import MapFunction, Priority, for_object, for_owner
from sampan.operator.predicates import Predicate
from sampan.operator.reconciler import ReconcileFunction, is_asynchronous
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource


class ClusterRequest(NamedTuple):
    """Name of an object to reconcile in one of several clusters."""

    cluster: str
    namespace: str
    name: str

    @property
    def request(self) -> Request:
        """The request without the cluster."""
        return Request(self.namespace, self.name)

    def __str__(self) -> str:
        return f"{self.cluster}: {self.request}"


ClusterReconcileFunction = Callable[[ClusterRequest], Awaitable[Result | None] | Result | None]
"""Reconciles an object of any cluster: asynchronous, or plain, which then runs in a thread."""
HomeMapFunction = Callable[[str, Ref[Any]], Iterable[Request] | Awaitable[Iterable[Request]]]
"""Returns the requests in one cluster (its name) for a changed object of the home cluster."""


@dataclass(frozen=True, slots=True)
class _Watch:
    kind: Kind
    map_function: MapFunction[Any]
    predicates: tuple[Predicate[Any], ...]
    priority: Priority[Any]


class ClustersBuilder:
    """Collects the parts of a controller; `complete` adds it to all clusters. All other methods return the builder."""

    def __init__(self, clusters: Clusters) -> None:
        self._clusters = clusters
        self._for: Kind | None = None
        self._watches: list[_Watch] = []
        self._home: list[tuple[Informer[Any], HomeMapFunction, tuple[Predicate[Any], ...]]] = []
        self._name = ""
        self._options = ControllerOptions()

    def for_(self, kind: Kind, *, predicates: Iterable[Predicate[Any]] = (), priority: Priority[Any] = 0) -> Self:
        """Set the kind that is reconciled in each cluster. Raises `BuildError` on the second call."""
        if self._for is not None:
            raise BuildError("for_ may be called only once: a controller reconciles one kind; use watches for others")
        self._for = kind
        self._watches.insert(0, _Watch(kind, for_object, tuple(predicates), priority))
        return self

    def owns(self, kind: Kind, *, predicates: Iterable[Predicate[Any]] = ()) -> Self:
        """Watch objects of another kind in each cluster, and reconcile their owners. `for_` must be called before."""
        if self._for is None:
            raise BuildError("owns needs for_, which names the kind of the owners")
        return self.watches(kind, for_owner(resource_info(self._for)), predicates=predicates)

    def watches(self, kind: Kind, map_function: MapFunction[Any], *, predicates: Iterable[Predicate[Any]] = ()) -> Self:
        """Watch objects of any kind in each cluster. `map_function` returns requests in the same cluster.

        For objects of another cluster, call `Clusters.enqueue`.
        """
        self._watches.append(_Watch(kind, map_function, tuple(predicates), 0))
        return self

    def watches_home(
        self, kind: Kind, map_function: HomeMapFunction, *, predicates: Iterable[Predicate[Any]] = ()
    ) -> Self:
        """Watch objects of the home cluster. `map_function` is called for each cluster, also for later ones."""
        self._home.append((self._clusters.home.informer_for(kind), map_function, tuple(predicates)))
        return self

    def named(self, name: str) -> Self:
        """Set the controller's name for logs and metrics. The default is the kind in lower case.

        The name in logs ends with that of the cluster: `boat@east`.
        """
        self._name = name
        return self

    def with_options(self, options: ControllerOptions) -> Self:
        """Set the options. Each cluster has its own workers. A rate limiter is shared by all clusters."""
        self._options = options
        return self

    def complete(self, reconcile: ClusterReconcileFunction) -> None:
        """Add the controller to all clusters, also to later ones. Raises `BuildError` if a part is missing."""
        if not (self._watches or self._home):
            raise BuildError("nothing is watched: call for_, watches or watches_home")
        if self._for is None and not self._name:
            raise BuildError("a controller without for_ needs a name: call named")
        name = self._name or resource_info(cast(Any, self._for)).kind.lower()
        self._clusters.set_up(partial(self._add, name, reconcile))

    def _add(self, name: str, reconcile: ClusterReconcileFunction, member: Member) -> None:
        in_cluster = _in_cluster(member.name, reconcile)
        controller = member.manager.new_controller(member.controller_name(name), in_cluster, self._options)
        controller.resource = "" if self._for is None else str(resource_info(cast(Any, self._for)).gvr.group_resource)
        delay_s = self._options.debounce_s
        for each in self._watches:
            informer = member.manager.informer_for(each.kind)
            controller.watch(
                KindSource(informer, each.map_function, each.predicates, debounce_s=delay_s, priority=each.priority)
            )
        for informer, map_function, predicates in self._home:
            controller.watch(KindSource(informer, partial(map_function, member.name), predicates, debounce_s=delay_s))


def _in_cluster(cluster: str, reconcile: ClusterReconcileFunction) -> ReconcileFunction:
    """Return a reconciler of one cluster, which adds the name of the cluster to each request."""
    if not is_asynchronous(cast(ReconcileFunction, reconcile)):
        return lambda request: reconcile(ClusterRequest(cluster, *request))

    async def in_cluster(request: Request) -> Result | None:
        return await cast(Awaitable[Result | None], reconcile(ClusterRequest(cluster, *request)))

    return in_cluster
