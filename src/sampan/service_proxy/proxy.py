"""`ServiceProxy`: follows the cluster and keeps the rules of this node up to date.

Concurrency: the informers' tasks call the handlers, which change the model and mark the owners of changed rules as
dirty. `run` writes the rules of dirty owners in the kernel's thread, with one transaction for each family. Changes that
arrive during a transaction are part of the next one. The rules stay when the proxy ends, so that traffic continues
during a restart.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final

from sampan.component_base.netlink import receive
from sampan.component_base.nftables.errors import NftError
from sampan.component_base.nftables.foreign_changes import ForeignChanges
from sampan.component_base.nftables.table import BASE, Table
from sampan.core.clock import monotonic, unix_time
from sampan.informer import EventHandlerFuncs, Ref, Registration, last_known, wait_for_cache_sync
from sampan.informer.ref import Deletion
from sampan.service_proxy.family import Family
from sampan.service_proxy.health import ProxyHealth
from sampan.service_proxy.health_checks import HealthChecks
from sampan.service_proxy.kernel import TABLE, Kernel
from sampan.service_proxy.metrics import ProxyMetrics
from sampan.service_proxy.model import Model
from sampan.service_proxy.node_facts import NodeFacts, node_facts
from sampan.service_proxy.rules.options import RuleOptions
from sampan.service_proxy.sources import Sources
from sampan.service_proxy.views import NODE_VIEW, SERVICE_CIDR_VIEW, SERVICE_NAME, SERVICE_VIEW, SLICE_VIEW

_log = logging.getLogger("sampan.proxy")

VERIFY_S: Final = 30.0
"""Period of the check that the tables still exist and the kernel's settings are as they must be. Changes of rules are
also reported by the kernel: other programs flush the whole ruleset when they reload.
"""
NODE_WAIT_S: Final = 10.0
"""Seconds to wait for an agent that starts together with the proxy to register its Node."""
_RETRY_FIRST_S: Final = 1.0
_RETRY_MAX_S: Final = 30.0
_PAUSE_FACTOR: Final = 1.0
_PAUSE_MAX_S: Final = 0.1
_REPAIR_PAUSE_S: Final = 0.2


class ServiceProxy:
    """Rules for the Services of a cluster on one node. `run` can be called only once."""

    needs_leader_election = False

    def __init__(
        self,
        sources: Sources,
        node_name: str,
        metrics: ProxyMetrics,
        *,
        options: RuleOptions = RuleOptions(),
        kernel: Kernel | None = None,
        health_check_host: str = "",
    ) -> None:
        """`health_check_host`: address of the health check ports of Services; "" for all."""
        self.health = ProxyHealth()
        self._model = Model(NodeFacts(node_name), options)
        self._metrics = metrics
        self._kernel = kernel or Kernel()
        self._checks = HealthChecks(lambda: self.health.is_live, health_check_host)
        self._tables: Mapping[Family, Table] = {}
        self._dirty: dict[str, float] = {}
        """Owners whose rules may have changed (see `Table`), each with the time of its first event."""
        self._wake = asyncio.Event()
        self._written = asyncio.Event()
        """Set while the rules of all received events are written."""
        self._started = False
        self._foreign = ForeignChanges(TABLE, self._wake.set)
        self._sources = sources
        self._registrations: list[Registration[Any]] = [
            sources.services.add_handler(_each(self._service_changed)),
            sources.slices.add_handler(_each(self._slice_changed)),
            sources.node.add_handler(_each(self._node_changed)),
            sources.service_cidrs.add_handler(_each(self._cidr_changed)),
        ]
        if sources.simulated_nodes is not None:
            self._registrations.append(sources.simulated_nodes.add_handler(_each(self._simulated_node_changed)))

    def __str__(self) -> str:
        return "service proxy"

    async def ready(self) -> None:
        """Wait until the rules of all received events are written."""
        await self._written.wait()

    async def run(self) -> None:
        """Follow the cluster until cancelled. Raises `ServiceProxyError` if the machine cannot run a proxy."""
        try:
            families = await self._kernel.prepare()
            self._tables = {family: Table(f"{family.name} {TABLE}") for family in families}
            await wait_for_cache_sync(*self._registrations)
            self._touch(BASE)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._checks.run(), name="health checks of Services")
                tasks.create_task(self._warn_without_node())
                events = await self._kernel.rule_events()
                if events is not None:
                    tasks.create_task(_receive(events, self._foreign.take), name="changes of rules")
                await self._follow()
        finally:
            self._kernel.close()

    # ---- events

    def _service_changed(self, ref: Ref[Any], exists: bool) -> None:
        self._metrics.service_changes.inc()
        self._model.put_service(ref.key, _decoded(SERVICE_VIEW, ref) if exists else None)
        self._touch(ref.key)

    def _slice_changed(self, ref: Ref[Any], exists: bool) -> None:
        self._metrics.endpoint_changes.inc()
        name = ref.labels.get(SERVICE_NAME)
        piece = _decoded(SLICE_VIEW, ref) if exists and name else None
        self._touch(*self._model.put_slice(ref.key, f"{ref.namespace}/{name}", piece))

    def _node_changed(self, ref: Ref[Any], exists: bool) -> None:
        if ref.name != self._model.node.name:
            return
        node = _decoded(NODE_VIEW, ref) if exists else None
        self.health.node_stays = node is not None and node.metadata.deletion_timestamp is None
        facts = node_facts(ref.name, node)
        if facts != self._model.node:
            self._model.node = facts
            self._touch(BASE, *self._model.services())

    def _simulated_node_changed(self, ref: Ref[Any], exists: bool) -> None:
        nodes = self._model.simulated_nodes
        if exists == (ref.name in nodes):
            return
        if exists:
            nodes.add(ref.name)
        else:
            nodes.remove(ref.name)
        self._touch(*self._model.services())

    def _cidr_changed(self, ref: Ref[Any], exists: bool) -> None:
        found = _decoded(SERVICE_CIDR_VIEW, ref) if exists else None
        self._model.service_cidrs[ref.key] = () if found is None else found.spec.cidrs
        self._touch(BASE)

    def _touch(self, *owners: str) -> None:
        now = monotonic()
        for owner in owners:
            # The time of the first change counts: the latency metric must include the wait for the next write.
            self._dirty.setdefault(owner, now)
        self._metrics.last_queued.set(unix_time())
        self.health.changed()
        self._written.clear()
        self._wake.set()

    # ---- rules

    async def _follow(self) -> None:
        retry_s = _RETRY_FIRST_S
        while True:
            try:
                async with asyncio.timeout(VERIFY_S):
                    await self._wake.wait()
            except TimeoutError:
                await self._kernel.set_sysctls()
                if not await self._verify():
                    continue
            self._wake.clear()
            if self._foreign.any():
                _log.warning("another program has changed the rules of Services: writing them again")
                for table in self._tables.values():
                    table.failed()
                # Bounds the work if that program always reverts the change.
                await asyncio.sleep(_REPAIR_PAUSE_S)
            began = monotonic()
            if await self._write():
                retry_s = _RETRY_FIRST_S
                # A single change is written at once. During a flood, the pause collects more changes for a transaction.
                await asyncio.sleep(min(_PAUSE_MAX_S, _PAUSE_FACTOR * (monotonic() - began)))
            else:
                await asyncio.sleep(retry_s)
                retry_s = min(_RETRY_MAX_S, retry_s * 2)
                self._wake.set()

    async def _write(self) -> bool:
        """Write the rules of dirty owners. Return False after a failure. The next call then replaces the tables."""
        dirty, self._dirty = self._dirty, {}
        began = monotonic()
        for owner in dirty:
            for family, table in self._tables.items():
                table.put(owner, self._model.base(family) if owner == BASE else self._model.fragment(owner, family))
            if owner != BASE:
                self._checks.put(owner, self._model.health_check(owner))
        try:
            for table in self._tables.values():
                await self._write_table(table)
        except NftError as error:
            self._metrics.failures.inc()
            # The older times win, because these changes still wait.
            self._dirty = {**self._dirty, **dirty}
            _log.error("cannot write rules, retrying with the whole table: %s", error)
            return False
        self._observe(began, dirty)
        await self._delete_stale_flows(dirty)
        return True

    async def _write_table(self, table: Table) -> None:
        commands = table.transaction()
        if not commands:
            return
        try:
            self._foreign.wrote(await self._kernel.write(commands))
        except BaseException:
            table.failed()
            raise
        table.written()

    def _observe(self, began: float, dirty: Mapping[str, float]) -> None:
        now = monotonic()
        self._metrics.write_s.observe(now - began)
        for received in dirty.values():
            self._metrics.change_s.observe(now - received)
        self._metrics.last_written.set(unix_time())
        if not self._started:
            self._started = True
            services, seconds = len(self._model.services()), round(now - began, 3)
            _log.info("rules of all Services written", extra={"services": services, "seconds": seconds})
        # Changes during the write are still pending, so the rules are not up to date yet.
        if not self._dirty:
            self.health.written()
            self._written.set()

    async def _verify(self) -> bool:
        """Return True if a table was deleted and must be written again."""
        gone = False
        try:
            for table in self._tables.values():
                if not await self._kernel.has_table(table.name):
                    _log.warning("another program has deleted table %s: writing it again", table.name)
                    table.failed()
                    gone = True
        except NftError as error:
            _log.error("cannot list tables: %s", error)
        return gone

    async def _delete_stale_flows(self, dirty: Mapping[str, float]) -> None:
        for family in self._tables:
            targets = self._model.udp_targets((owner for owner in dirty if owner != BASE), family)
            if not targets.by_destination:
                continue
            try:
                deleted = await self._kernel.delete_flows(family, targets)
            except OSError as error:
                _log.warning("cannot delete UDP flows to endpoints that no longer exist: %s", error)
                continue
            self._metrics.deleted_flows.inc(deleted)

    async def _warn_without_node(self) -> None:
        await asyncio.sleep(NODE_WAIT_S)
        if self._sources.node.indexer.get(self._model.node.name) is None:
            _log.warning(
                "no Node %s: no endpoint counts as local. Set --node-name to the name of this Node",
                self._model.node.name,
            )


async def _receive(events: socket.socket, take: Callable[[bytes | None], None]) -> None:
    with events:
        await receive(events, take)


def _each(changed: Any) -> EventHandlerFuncs[Any]:
    """Return a handler that calls `changed(ref, exists)`."""

    def deleted(obj: Deletion[Any]) -> None:
        changed(last_known(obj), False)

    return EventHandlerFuncs(lambda ref: changed(ref, True), lambda old, new: changed(new, True), deleted)


def _decoded(view: Any, ref: Ref[Any]) -> Any:
    """Return an object, or None if it is unreadable. An unreadable object must not block other objects."""
    try:
        return view.decode(ref.raw)
    except ValueError as error:
        _log.error("ignoring an unreadable object", extra={"key": ref.key, "error": str(error)})
        return None
