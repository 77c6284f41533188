"""`FlowController`: the current schemas and levels, and the task that updates them.

Concurrency: `run` is one task. It applies changed objects, writes the conditions of FlowSchemas, and rebalances the
seats every ten seconds. Requests are classified and counted on the same event loop without waiting.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from sampan.core.clock import monotonic
from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.recent import Recent
from sampan.core.time import timestamp
from sampan.registry.cluster import Cluster
from sampan.registry.follower import Apply
from sampan.registry.kinds.flowcontrol.bootstrap import FLOW_CONTROL_GROUP
from sampan.registry.strategy import Context
from sampan.registry.write.own import Edit, UpdateOptions, update
from sampan.registry.write.write import Part
from sampan.server.flow_control.borrowing import ADJUSTMENT_PERIOD_S, rebalance
from sampan.server.flow_control.configuration import CATCH_ALL, EffectiveConfiguration, digest
from sampan.server.flow_control.dropped_requests import DroppedRequests
from sampan.server.flow_control.estimation.estimator import WorkEstimator
from sampan.server.flow_control.estimation.object_stats import CachedObjectStats
from sampan.server.flow_control.estimation.watch_counts import WatchCounts
from sampan.server.flow_control.priority_level import PriorityLevel
from sampan.server.flow_control.queues.dealer import deal, hash_flow
from sampan.server.flow_control.queues.ticket import Flow, FlowStats
from sampan.server.flow_control.settings import FlowControlSettings
from sampan.server.post_start_hooks.flow_control import dangling_condition
from sampan.server.request import RequestInfo, UserInfo
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode
from sampan.storage.records import Record

_log = logging.getLogger(__name__)

POLL_INTERVAL_S: Final = 0.25
DEMAND_MIN: Final = 0.5
"""Demand for seats, below which it no longer changes the seats of a level."""
_RESOURCES: Final = ("prioritylevelconfigurations", "flowschemas")
CLASSIFIED_MAX: Final = 4096
"""Size of the cache of classifications. The least recently used are removed first."""
CLASSIFIED_S: Final = 60.0

_USER: Final = "system:apiserver"


class Classified(NamedTuple):
    """Flow and level of a request, and the response headers that report them."""

    flow: Flow
    level: PriorityLevel
    headers: tuple[tuple[bytes, bytes], ...]


class FlowController:
    """Classifies requests and updates the levels."""

    def __init__(self, cluster: Cluster, settings: FlowControlSettings, clock: Callable[[], float] = monotonic) -> None:
        """`clock` returns monotonic seconds."""
        self.settings = settings
        self.stats: dict[tuple[str, str], FlowStats] = {}
        """Statistics by priority level and flow schema, including deleted ones."""
        self.watches = WatchCounts()
        self.estimator = WorkEstimator(CachedObjectStats(cluster, clock).of, self.watches)
        self.dropped = DroppedRequests(clock)
        self.fair_fraction = 0.0
        self._cluster = cluster
        self._clock = clock
        self._classified: Recent[tuple[object, ...], Classified] = Recent(CLASSIFIED_MAX, CLASSIFIED_S, clock)
        self._levels: dict[str, Object] = {}
        self._schemas: dict[str, Object] = {}
        follow = cluster.reader.follow
        self._followers = (
            follow(FLOW_CONTROL_GROUP, "prioritylevelconfigurations", _keep_in(self._levels)),
            follow(FLOW_CONTROL_GROUP, "flowschemas", _keep_in(self._schemas)),
        )
        self._configuration = EffectiveConfiguration([], {}, [])
        self._woken = asyncio.Event()
        self._asleep = False
        self._digest()

    @property
    def levels(self) -> Mapping[str, PriorityLevel]:
        """Levels by name."""
        return self._configuration.levels

    def classify(self, user: UserInfo, info: RequestInfo) -> Classified:
        """Return the classification of a request by the first schema that matches."""
        key: tuple[object, ...]
        if info.is_resource:
            key = (user.name, user.groups, info.verb, info.group, info.resource, info.subresource, info.namespace)
        else:
            key = (user.name, user.groups, info.verb, info.path)
        return self._classified.get(key) or self._remember(key, user, info)

    def refresh(self) -> bool:
        """Apply new writes. Return True if there were any."""
        changed = [follower.poll() for follower in self._followers]
        if not any(changed) and not self._ended():
            return False
        self._digest()
        return True

    def rebalance(self) -> None:
        """Rebalance the seats of the levels."""
        self.fair_fraction = rebalance(self.levels.values())

    async def run(self) -> None:
        """Keep schemas and levels current until cancelled. While no request runs, only rebalance seats, until they no
        longer change.
        """
        for cache in self._caches():
            cache.listeners.append(self._woken.set)
        due = self._clock() + ADJUSTMENT_PERIOD_S
        while True:
            if self.refresh():
                await self.write_conditions()
            if self._clock() >= due:
                self.rebalance()
                due = self._clock() + ADJUSTMENT_PERIOD_S
            for level in self.levels.values():
                level.queue_set.catch_up()
            await self._pause(due)

    async def _pause(self, due: float) -> None:
        """Wait for the next poll. While no request runs, wait for a changed object, a request or the next
        rebalancing.
        """
        levels = self.levels.values()
        if not all(level.queue_set.idle for level in levels):
            await asyncio.sleep(POLL_INTERVAL_S)
            return
        settled = all(level.demand.smoothed < DEMAND_MIN and not level.demand.high_watermark for level in levels)
        self._asleep = True
        try:
            async with asyncio.timeout(None if settled else max(due - self._clock(), 0.0)):
                await self._woken.wait()
        except TimeoutError:
            pass
        finally:
            self._asleep = False
            self._woken.clear()

    def note_request(self) -> None:
        """Resume polling soon after a request that arrives while no other request runs."""
        if self._asleep:
            self._asleep = False
            _later(POLL_INTERVAL_S, self._woken.set)

    def _caches(self) -> list[WatchCache]:
        found = [self._cluster.registry.get(FLOW_CONTROL_GROUP, resource) for resource in _RESOURCES]
        return [self._cluster.caches[definition.storage_prefix] for definition in found if definition is not None]

    async def write_conditions(self) -> None:
        """Write the condition of each FlowSchema that must report whether its level exists."""
        endpoint = self._cluster.endpoint(FLOW_CONTROL_GROUP, "v1", "flowschemas")
        assert endpoint is not None
        for obj, level, found in self._configuration.dangling:
            name = obj["metadata"]["name"]
            condition = dangling_condition(level, found, timestamp(self._cluster.clock))
            clock, options = self._cluster.clock, UpdateOptions(part=Part.STATUS)
            ctx = Context(user=_USER, groups=("system:masters",), namespace="", name=name)
            try:
                await update(endpoint.store, ctx, _with_condition(condition), clock, options)
            except StatusError as error:
                if error.reason not in (Reason.NOT_FOUND, Reason.CONFLICT):
                    _log.warning(
                        "cannot write the condition of a flow schema", extra={"schema": name, "error": error.message}
                    )

    def _digest(self) -> None:
        levels = self.levels
        self._configuration = digest(
            self._levels.values(), self._schemas.values(), levels, make=self._make, seats=self.settings.seats
        )
        self._classified.clear()
        self.rebalance()

    def _make(self, obj: Object) -> PriorityLevel:
        return PriorityLevel(obj, self._clock, _later)

    def _ended(self) -> bool:
        """Return True if a deleted level is idle and can be removed."""
        return any(level.undesired and level.queue_set.idle for level in self.levels.values())

    def _remember(self, key: tuple[object, ...], user: UserInfo, info: RequestInfo) -> Classified:
        found = self._find(user, info)
        self._classified.put(key, found)
        return found

    def _find(self, user: UserInfo, info: RequestInfo) -> Classified:
        schemas = self._configuration.schemas
        matching = (schema for schema in schemas if schema.matches(user, info))
        schema = next(matching, None) or next(schema for schema in schemas if schema.name == CATCH_ALL)
        level = self.levels[schema.level]
        queues, hand_size = level.queuing.queues, level.queuing.hand_size
        text = schema.flow_of(user, info) if queues > 1 else ""
        hand = deal(hash_flow(schema.name, text), queues, hand_size) if queues > 0 else ()
        stats = self.stats.setdefault((level.name, schema.name), FlowStats())
        headers = (
            (b"X-Kubernetes-PF-FlowSchema-UID", schema.uid.encode()),
            (b"X-Kubernetes-PF-PriorityLevel-UID", level.uid.encode()),
        )
        return Classified(Flow(schema.name, text, hand, stats), level, headers)


def _later(seconds: float, call: Callable[[], None]) -> object:
    return asyncio.get_running_loop().call_later(seconds, call)


def _keep_in(objects: dict[str, Object]) -> Apply:
    def apply(key: str, record: Record | None) -> None:
        if record is None:
            objects.pop(key, None)
        else:
            objects[key] = decode(record.value)

    return apply


def _with_condition(condition: Object) -> Edit:
    def edit(obj: Object, old: Object) -> None:
        status = obj.get("status") or {}
        others = [each for each in status.get("conditions") or () if each.get("type") != condition["type"]]
        obj["status"] = {**status, "conditions": [*others, condition]}

    return edit
