"""`EvictionManager`: watches the resources of a node, reports pressure, and evicts one Pod at a time.

Concurrency: `run` is one loop. A pass measures, decides by functions (`pressure.py`, `ranking.py`), and acts.
Guarantees: critical Pods are never evicted. Images and dead containers are removed before a Pod is evicted.
Source: kubelet pkg/kubelet/eviction/eviction_manager.go (1.36).
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from sampan.core.time import Clock
from sampan.node.admission.node_state import NodeState
from sampan.node.eviction.local_limits import exceeded, has_limits
from sampan.node.eviction.meter import Meter
from sampan.node.eviction.pressure import Pressure, Signals, advanced, met, reclaims_disk
from sampan.node.eviction.ranking import eviction_text, ranked
from sampan.node.eviction.thresholds import CONDITIONS, RESOURCES, EvictionPolicy, Threshold
from sampan.node.garbage.collector import GarbageCollector
from sampan.node.pods.forced_end import ForcedEnd
from sampan.node.server.hosted import HostedPod
from sampan.node.views.pod import Pod
from sampan.operator.failures.error_text import one_line, retry_level, traceback_of

PERIOD_S: Final = 10.0
END_WAIT_S: Final = 30.0
END_POLL_S: Final = 1.0
GRACE_S: Final = 1.0
"""Grace period of a Pod that is evicted at once."""
REASON: Final = "Evicted"
_REST: Final = 20.0
"""Pause after a walk through directories, as a multiple of its time: so walks take at most a twentieth of the time."""
_log = logging.getLogger("sampan.node")


class EvictablePods(Protocol):
    """Pods of the node. The agent implements it."""

    def hosted(self) -> Sequence[HostedPod]:
        """Return all Pods."""
        ...

    def has_ended(self, uid: str) -> bool:
        """Return True for a Pod in its last phase, and for one that no longer exists."""
        ...

    def force_end(self, uid: str, end: ForcedEnd) -> None:
        """Stop a Pod, and write its last status."""
        ...


class Reports(Protocol):
    """Events of evictions."""

    def node_warning(self, node: str, reason: str, note: str) -> None:
        """Record a Warning event about a node."""
        ...

    def warning(
        self, pod: Pod, reason: str, note: str, container: str = "", annotations: Mapping[str, str] | None = None
    ) -> None:
        """Record a Warning event about a Pod."""
        ...


class EvictionManager:
    """Eviction on one node. A `Runnable` of the manager."""

    needs_leader_election = False

    def __init__(
        self,
        node: str,
        policy: EvictionPolicy,
        *,
        pods: EvictablePods,
        state: NodeState,
        meter: Meter,
        reports: Reports,
        clock: Clock,
        collector: GarbageCollector | None = None,
    ) -> None:
        """`collector`: garbage collector of images and containers; None if the node needs no garbage collection."""
        self._node = node
        self._policy = policy
        self._pods = pods
        self._state = state
        self._meter = meter
        self._reports = reports
        self._clock = clock
        self._collector = collector
        self._pressure = Pressure()
        self._leaving: set[str] = set()
        """Evicted Pods that may not have ended yet."""
        self._walk_at = 0.0

    def __str__(self) -> str:
        return "eviction manager of the node"

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            try:
                evicted = await self._pass()
            except Exception as error:
                text = "eviction failed; retrying: %s"
                _log.log(retry_level(error), text, one_line(error), exc_info=traceback_of(error))
                evicted = []
            if evicted:
                await self._until_ended(evicted)
            else:
                await asyncio.sleep(PERIOD_S)

    async def _pass(self) -> Sequence[str]:
        """Measure the node, and evict Pods if needed. Returns the uids of the evicted Pods."""
        self._leaving = {uid for uid in self._leaving if not self._pods.has_ended(uid)}
        signals = await self._meter.signals()
        before = self._pressure.conditions
        self._pressure = advanced(self._pressure, signals, self._policy, self._clock.now().timestamp())
        if self._pressure.conditions != before:
            _log.warning("pressure of the node has changed", extra={"conditions": sorted(self._pressure.conditions)})
        self._state.set_pressures(self._pressure.conditions)
        above_limit = await self._evict_above_limits()
        if above_limit or not self._pressure.due:
            return above_limit
        threshold = self._pressure.due[0]
        resource = RESOURCES[threshold.signal]
        self._reports.node_warning(self._node, "EvictionThresholdMet", f"Attempting to reclaim {resource}")
        if await self._reclaimed(threshold):
            return []
        return await self._evict_for(threshold, signals)

    async def _reclaimed(self, threshold: Threshold) -> bool:
        """Remove dead containers and unused images. Returns whether that is enough for all thresholds."""
        collector = self._collector
        if collector is None or not reclaims_disk(threshold.signal, has_image_disk=self._meter.has_image_disk):
            return False
        for remove in (collector.remove_dead, collector.remove_unused_images):
            try:
                await remove()
            except OSError as error:
                _log.warning("cannot free the disk: %s", one_line(error))
        return not met(self._policy.thresholds, await self._meter.signals())

    async def _evict_for(self, threshold: Threshold, signals: Signals) -> Sequence[str]:
        """Evict the first Pod of the ranking. If an evicted Pod has not ended yet, wait for it instead."""
        if self._leaving:
            return list(self._leaving)
        is_disk = CONDITIONS[threshold.signal] == "DiskPressure"
        active = {each.pod.metadata.uid: each for each in self._active()}
        uses = [await self._meter.use(each, with_files=is_disk) for each in active.values()]
        for use in ranked(uses, threshold.signal, has_image_disk=self._meter.has_image_disk):
            if use.is_critical:
                _log.info("not evicting a critical pod", extra={"pod": active[use.uid].pod.key})
                continue
            text = eviction_text(use, threshold, signals)
            grace_s = GRACE_S if threshold.is_hard else self._policy.pod_grace_s_max
            self._evict(active[use.uid].pod, ForcedEnd(REASON, text.message, grace_s), text.annotations)
            return [use.uid]
        _log.warning("cannot evict any pod: none is running, or all are critical")
        return []

    async def _evict_above_limits(self) -> Sequence[str]:
        """Evict the Pods that use more local storage than their limits. Their directories are walked one by one."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        if began < self._walk_at:
            return []
        found = []
        for each in self._active():
            pod = each.pod
            if pod.metadata.uid in self._leaving or not has_limits(pod):
                continue
            use = await self._meter.use(each)
            message = exceeded(pod, use, has_image_disk=self._meter.has_image_disk)
            if message and not use.is_critical:
                self._evict(pod, ForcedEnd(REASON, message, GRACE_S, is_disruption=False))
                found.append(pod.metadata.uid)
        self._walk_at = loop.time() + _REST * (loop.time() - began)
        return found

    def _active(self) -> list[HostedPod]:
        """Return the Pods that run, or are about to run."""
        return [each for each in self._pods.hosted() if not each.pod.has_ended]

    def _evict(self, pod: Pod, end: ForcedEnd, annotations: Mapping[str, str] | None = None) -> None:
        _log.warning("evicting a pod", extra={"pod": pod.key, "reason": end.message})
        self._reports.warning(pod, REASON, end.message, "", annotations)
        self._leaving.add(pod.metadata.uid)
        self._pods.force_end(pod.metadata.uid, end)

    async def _until_ended(self, uids: Sequence[str]) -> None:
        """Wait until the evicted Pods have ended, with a time limit.

        Only then can a measurement show whether more must be evicted.
        """
        for _ in range(int(END_WAIT_S / END_POLL_S)):
            await asyncio.sleep(END_POLL_S)
            if all(map(self._pods.has_ended, uids)):
                return
