"""`Clusters`: runs a manager for each cluster, from the manager of the operator's own (home) cluster.

    manager = Manager(client)
    clusters = Clusters(manager, KubeconfigContexts())
    ClustersBuilder(clusters).for_(Boat).complete(reconcile)
    await manager.run(handle_signals=True)

Concurrency: `run` follows the provider and owns one task for each cluster. That task runs the manager of the cluster,
and starts another one after a failure, with backoff. Each cluster has its own queues and workers, so a cluster that
does not respond delays no other. Only the leader of the home cluster runs the clusters, and when its lease has
expired, writes to all of them raise `LeaseOver`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from inspect import isawaitable

from prometheus_client.core import GaugeMetricFamily, Metric

from sampan.client.client import Client
from sampan.client.config import Config
from sampan.client.retries.backoff import Backoff
from sampan.client.retries.delay import RetryDelay
from sampan.operator.clusters.providers import ClusterProvider
from sampan.operator.controller import FailingObject
from sampan.operator.failures.error_text import one_line, traceback_of
from sampan.operator.manager import Manager, ManagerOptions
from sampan.operator.request import Request

_log = logging.getLogger("sampan.clusters")

_RESTARTS = Backoff(1.0, factor=2.0, jitter=0.1, cap_s=300.0)
_SHUTDOWN_S = 2.0
"""Grace period of a cluster that is cancelled: less than the time after which its parent cancels again."""


class UnknownCluster(LookupError):
    """There is no cluster of this name, or it has left."""


@dataclass(frozen=True, slots=True)
class Member:
    """A cluster at work."""

    name: str
    manager: Manager
    """Its `client` reads the cache of this cluster."""

    @property
    def client(self) -> Client:
        """Client that reads from the server."""
        return self.manager.client.direct

    def controller_name(self, name: str) -> str:
        """Return the name of a joint controller in this cluster, so that log lines name the cluster."""
        return f"{name}@{self.name}"


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """State of a cluster."""

    name: str
    ready: bool
    """True if its controllers run, with filled caches."""
    error: str = ""
    """Last failure, in one line; empty since the cluster is ready."""


SetUp = Callable[[Member], Awaitable[None] | None]
"""Adds controllers and other parts to the manager of a cluster."""


class Clusters:
    """The clusters of an operator. Adds itself to the home manager."""

    needs_leader_election = True

    def __init__(
        self,
        home: Manager,
        provider: ClusterProvider,
        *,
        options: ManagerOptions = ManagerOptions(),
        field_manager: str = "",
    ) -> None:
        """`options` of the managers of the clusters; they have no probes and no leader election."""
        self.home = home
        self._provider = provider
        self._options = replace(
            options, leader_election=None, probe_address="", graceful_shutdown_timeout_s=_SHUTDOWN_S
        )
        self._field_manager = field_manager
        self._set_ups: list[SetUp] = []
        self._targets: dict[str, Config | Client] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._members: dict[str, Member] = {}
        self._errors: dict[str, str] = {}
        self._draining = False
        home.registry.register(_ReadyCollector(self.status))
        home.add(self)

    def __str__(self) -> str:
        return "clusters"

    def set_up(self, function: SetUp) -> SetUp:
        """Call a function for each cluster, before its manager starts, also for those that come later."""
        self._set_ups.append(function)
        return function

    def get(self, name: str) -> Member:
        """Return a cluster, which may not respond. Raises `UnknownCluster`."""
        try:
            return self._members[name]
        except KeyError:
            raise UnknownCluster(f"there is no cluster {name!r}") from None

    @property
    def names(self) -> list[str]:
        """Names of the clusters, also of those that do not respond."""
        return sorted(self._targets)

    def status(self) -> list[ClusterStatus]:
        """Return the state of each cluster."""
        return [
            ClusterStatus(
                name,
                name in self._members and self._members[name].manager.elected.is_set(),
                self._errors.get(name, ""),
            )
            for name in self.names
        ]

    def failing(self, *, tries_min: int = 1) -> dict[str, list[FailingObject]]:
        """Return the objects that keep failing, by cluster. See `Manager.failing`."""
        found = {name: member.manager.failing(tries_min=tries_min) for name, member in self._members.items()}
        return {name: objects for name, objects in found.items() if objects}

    def enqueue(self, controller: str, cluster: str, request: Request, *, priority: int = 0) -> None:
        """Reconcile an object of a cluster. Raises `UnknownCluster`, and `LookupError` for an unknown controller."""
        member = self.get(cluster)
        member.manager.controller(member.controller_name(controller)).queue.add(request, priority=priority)

    async def run(self) -> None:
        """Follow the provider until cancelled. Raises its errors."""
        async with asyncio.TaskGroup() as tasks, aclosing(self._provider.clusters()) as changes:
            async for targets in changes:
                for name, target in list(self._targets.items()):
                    if name not in targets or targets[name] != target:
                        await self._leave(name)
                for name, target in targets.items():
                    if name not in self._targets and not self._draining:
                        self._targets[name] = target
                        self._tasks[name] = tasks.create_task(self._keep(name, target), name=f"cluster {name}")

    async def drain(self) -> None:
        """Start no more reconciles in any cluster, and wait for the running ones."""
        self._draining = True
        async with asyncio.TaskGroup() as drains:
            for member in self._members.values():
                drains.create_task(member.manager.drain())

    async def _leave(self, name: str) -> None:
        _log.info("cluster %s has left", name)
        del self._targets[name]
        self._errors.pop(name, None)
        task = self._tasks.pop(name)
        task.cancel()
        await asyncio.wait({task})

    async def _keep(self, name: str, target: Config | Client) -> None:
        """Run the manager of a cluster, and another one after each failure."""
        delay = RetryDelay(_RESTARTS)
        while True:
            try:
                await self._serve(name, target, delay)
                return
            except Exception as error:
                delay_s = delay.next_delay_s()
                assert delay_s is not None
                self._errors[name] = one_line(error)
                text = "cluster %s failed: %s; starting it again in %.3g s"
                _log.error(text, name, one_line(error), delay_s, exc_info=traceback_of(error))
            finally:
                self._members.pop(name, None)
            await asyncio.sleep(delay_s)

    async def _serve(self, name: str, target: Config | Client, delay: RetryDelay) -> None:
        owned = None if isinstance(target, Client) else Client.from_config(target, field_manager=self._field_manager)
        client = owned or target
        assert isinstance(client, Client)
        try:
            member = Member(name, Manager(client.through(self.home.guard), self._options))
            for set_up in self._set_ups:
                waiting = set_up(member)
                if isawaitable(waiting):
                    await waiting
            self._members[name] = member
            async with asyncio.TaskGroup() as tasks:
                ready = tasks.create_task(self._note_ready(member, delay))
                await member.manager.run()
                ready.cancel()
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            if owned is not None:
                await owned.aclose()

    async def _note_ready(self, member: Member, delay: RetryDelay) -> None:
        await member.manager.elected.wait()
        _log.info("cluster %s is ready", member.name)
        self._errors.pop(member.name, None)
        delay.succeeded()


class _ReadyCollector:
    """Gauge of the clusters: 1 if its controllers run."""

    def __init__(self, status: Callable[[], list[ClusterStatus]]) -> None:
        self._status = status

    def describe(self) -> list[Metric]:
        """Return the metric family without values."""
        return [_family([])]

    def collect(self) -> Iterator[Metric]:
        """Yield the family with the current values."""
        yield _family(self._status())


def _family(found: list[ClusterStatus]) -> Metric:
    gauge = GaugeMetricFamily("sampan_cluster_ready", "1: the controllers of the cluster run", labels=["cluster"])
    for each in found:
        gauge.add_metric([each.name], int(each.ready))
    return gauge
