"""`FlowController`: what holds for requests at the moment, and what keeps it true.

Concurrency: `run` is one task. It takes in changed objects, writes the conditions of flow schemas, and every ten
seconds lets the levels lend each other seats. Requests are classified and counted on the same event loop, at once.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

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
from sampan.server.flow_control.configuration import CATCH_ALL, Configuration, digest
from sampan.server.flow_control.dealer import deal, hash_flow
from sampan.server.flow_control.dropped_requests import DroppedRequests
from sampan.server.flow_control.estimator import WorkEstimator
from sampan.server.flow_control.object_stats import CachedObjectStats
from sampan.server.flow_control.priority_level import PriorityLevel
from sampan.server.flow_control.settings import FlowControlSettings
from sampan.server.flow_control.ticket import Flow, FlowStats
from sampan.server.flow_control.watch_counts import WatchCounts
from sampan.server.loops.flow_control import dangling_condition
from sampan.server.request import RequestInfo, UserInfo
from sampan.storage.encoding import decode
from sampan.storage.records import Record

_log = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 0.25
CLASSIFIED_MAX: Final = 4096
"""How many classifications are kept, of those that were used lately."""
CLASSIFIED_S: Final = 60.0

_USER: Final = "system:apiserver"


class Classified(NamedTuple):
    """Where a request belongs, and the headers that say so."""

    flow: Flow
    level: PriorityLevel
    headers: tuple[tuple[bytes, bytes], ...]


class FlowController:
    """See the module."""

    def __init__(
        self, cluster: Cluster, settings: FlowControlSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`clock`: monotonic seconds."""
        self.settings = settings
        self.stats: dict[tuple[str, str], FlowStats] = {}
        """By priority level and flow schema, also of those that are no more."""
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
        self._configuration = Configuration([], {}, [])
        self._digest()

    @property
    def levels(self) -> Mapping[str, PriorityLevel]:
        """By name."""
        return self._configuration.levels

    def classify(self, user: UserInfo, info: RequestInfo) -> Classified:
        """Where a request belongs: to the first schema that matches."""
        key: tuple[object, ...]
        if info.is_resource:
            key = (user.name, user.groups, info.verb, info.group, info.resource, info.subresource, info.namespace)
        else:
            key = (user.name, user.groups, info.verb, info.path)
        return self._classified.get(key) or self._remember(key, user, info)

    def refresh(self) -> bool:
        """Take in what has been written; whether there was anything."""
        changed = [follower.poll() for follower in self._followers]
        if not any(changed) and not self._ended():
            return False
        self._digest()
        return True

    def rebalance(self) -> None:
        """Let the levels lend each other seats."""
        self.fair_fraction = rebalance(self.levels.values())

    async def run(self) -> None:
        """Keep up until cancelled."""
        due = self._clock() + ADJUSTMENT_PERIOD_S
        while True:
            if self.refresh():
                await self.write_conditions()
            if self._clock() >= due:
                self.rebalance()
                due = self._clock() + ADJUSTMENT_PERIOD_S
            for level in self.levels.values():
                level.queue_set.catch_up()
            await asyncio.sleep(LOOK_INTERVAL_S)

    async def write_conditions(self) -> None:
        """Tell each flow schema whether there is the level that it names."""
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
                    _log.warning("condition of a flow schema", extra={"schema": name, "error": error.message})

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
        """Whether a level that is no longer wanted has come to its end."""
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
