"""Server of one resource in memory that fails on demand, and a handler that records its events."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sampan.client.errors import ApiError, api_error
from sampan.client.options import ListOptions
from sampan.client.watching.list_watch import RawEvent, RawList
from sampan.core.gvk import GroupVersionResource
from sampan.informer import Deletion, InformerSettings, Ref, ReflectorSettings, SharedInformer, last_known
from sampan.resource import Object, ObjectType, ResourceInfo, dynamic
from sampan.wire import json

WIDGETS: ObjectType[Object] = dynamic(
    ResourceInfo(GroupVersionResource("example.com", "v1", "widgets"), "Widget", True)
)
INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


@dataclass
class Plan:
    """Plan of one watch."""

    refuse: Exception | None = None
    """Raised before anything is sent."""
    events: int | None = None
    """After so many events comes the end."""
    end: Exception | RawEvent | None = None
    """End of the watch: a raised error, an event, or the end of the stream."""
    after_s: float | None = None
    """The end comes after so long, if not before."""
    accepted: bool = False
    """An empty batch comes first, as from a real connection."""
    silent: bool = False
    """Nothing is ever sent, nor does the watch end: a half-open connection."""
    without_bookmark: bool = False
    """The bookmark that ends the initial events never comes."""
    repeat: int = 0
    """Number of events before the requested version that are sent again."""


@dataclass
class FakeServer:
    """Implements `ListWatch`. Each change gets the next resourceVersion."""

    page: bool = False
    """Serves lists, in pages if the request has a limit."""
    has_streaming_lists: bool = False
    version: int = 100
    compacted: int = 0
    """Watches from before this version are refused with 410."""
    objects: dict[str, Object] = field(default_factory=dict)
    history: list[tuple[int, RawEvent]] = field(default_factory=list)
    list_faults: deque[Exception] = field(default_factory=deque)
    plans: deque[Plan] = field(default_factory=deque)
    every_plan: Plan | None = None
    """Plan of all watches without a separate one."""
    lists: list[ListOptions] = field(default_factory=list)
    watches: list[ListOptions] = field(default_factory=list)
    began_at: list[float] = field(default_factory=list)
    """Times of the requests."""
    open_watches: int = 0
    truth: dict[str, list[str]] = field(default_factory=dict)
    """All states of each key: versions, and `-` for absence."""
    deletions: dict[str, str] = field(default_factory=dict)
    """The version of each deletion, with the last version before it."""

    def __post_init__(self) -> None:
        self._changed = asyncio.Event()
        self._uids = 0

    # Changes.

    def put(self, name: str, *, namespace: str = "ns", labels: dict[str, str] | None = None, **more: object) -> Object:
        """Create or change an object."""
        old = self.objects.get(f"{namespace}/{name}")
        self.version += 1
        if old is None:
            self._uids += 1
        metadata = {
            "name": name,
            "namespace": namespace,
            "uid": old["metadata"]["uid"] if old else f"uid-{self._uids}",
            "resourceVersion": str(self.version),
            "labels": labels or {},
        }
        obj: Object = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, **more}
        self.objects[f"{namespace}/{name}"] = obj
        self.truth.setdefault(f"{namespace}/{name}", ["-"]).append(str(self.version))
        self._send("MODIFIED" if old else "ADDED", obj)
        return obj

    def delete(self, name: str, *, namespace: str = "ns") -> None:
        """Delete an object."""
        obj = self.objects.pop(f"{namespace}/{name}")
        self.version += 1
        self.truth[f"{namespace}/{name}"].append("-")
        self.deletions[str(self.version)] = obj["metadata"]["resourceVersion"]
        gone = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        self._send("DELETED", gone)

    def bookmark(self, version: int | None = None) -> None:
        """Send a bookmark to the watches."""
        metadata = {"resourceVersion": str(version or self.version)}
        self._send("BOOKMARK", {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata})

    def compact(self) -> None:
        """Forget all history."""
        self.compacted = self.version

    def _send(self, kind: str, obj: Object) -> None:
        self.history.append((self.version, event(kind, obj)))
        self._changed.set()
        self._changed = asyncio.Event()

    # ListWatch.

    async def list(self, options: ListOptions) -> RawList:
        """One page."""
        self.lists.append(options)
        self._count()
        if self.list_faults:
            raise self.list_faults.popleft()
        self._check_version(options)
        bodies = [json.encode(obj) for obj in self.objects.values()]
        if not (self.page and options.limit):
            return RawList(bodies, str(self.version))
        begin = int(options.continue_token or 0)
        end = begin + options.limit
        more = str(end) if end < len(bodies) else ""
        return RawList(bodies[begin:end], str(self.version), more)

    async def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
        """Return the events since the requested version."""
        self.watches.append(options)
        self._count()
        plan = self.plans.popleft() if self.plans else self.every_plan or Plan()
        self.open_watches += 1
        try:
            if plan.refuse is not None:
                raise plan.refuse
            if plan.accepted:
                yield ()
            if plan.silent:
                await asyncio.Event().wait()
            async for batch in self._limited(options, plan):
                yield batch
        finally:
            self.open_watches -= 1

    async def _limited(self, options: ListOptions, plan: Plan) -> AsyncGenerator[Sequence[RawEvent], None]:
        left = plan.events
        ends_s = min(plan.after_s if plan.after_s is not None else 1e9, options.timeout_seconds or 1e9)
        try:
            async with asyncio.timeout(ends_s):
                if left == 0:
                    await asyncio.sleep(plan.after_s or 0)
                else:
                    async for batch in self._events(options, plan):
                        yield batch[:left]
                        left = None if left is None else left - len(batch)
                        if left is not None and left <= 0:
                            break
        except TimeoutError:
            pass
        if isinstance(plan.end, RawEvent):
            yield [plan.end]
        elif plan.end is not None:
            raise plan.end

    async def _events(self, options: ListOptions, plan: Plan) -> AsyncGenerator[Sequence[RawEvent], None]:
        position = int(options.resource_version or 0)
        if options.send_initial_events and not self.has_streaming_lists:
            raise api_error({"code": 422, "reason": "Invalid", "message": "sendInitialEvents is forbidden"})
        if options.send_initial_events or not position:
            initial = [event("ADDED", obj) for obj in self.objects.values()]
            if options.send_initial_events and not plan.without_bookmark:
                metadata = {"resourceVersion": str(self.version), "annotations": INITIAL_EVENTS_END}
                initial.append(event("BOOKMARK", {"metadata": metadata}))
            position = self.version
            if initial:
                yield initial
        elif position < self.compacted:
            yield [EXPIRED_EVENT]
            return
        at = sum(1 for version, _ in self.history if version <= position)
        if plan.repeat and at:
            yield [raw for _, raw in self.history[max(at - plan.repeat, 0) : at]]
        while True:
            changed = self._changed
            if at < len(self.history):
                batch = [raw for _, raw in self.history[at:]]
                at = len(self.history)
                yield batch
            else:
                await changed.wait()

    def _check_version(self, options: ListOptions) -> None:
        desired = int(options.resource_version or 0)
        if desired > self.version:
            raise too_large(desired)

    def _count(self) -> None:
        self.began_at.append(asyncio.get_running_loop().time())


def event(kind: str, obj: Object) -> RawEvent:
    """As it comes from the wire."""
    return RawEvent(kind, msgspec.Raw(json.encode(obj)))


def status(code: int, reason: str, message: str = "", **more: object) -> Object:
    """Return a `Status` of a failure."""
    return {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message, **more}


EXPIRED_EVENT = event("ERROR", status(410, "Expired", "too old resource version"))


def expired() -> ApiError:
    """410, as an answer."""
    return api_error(status(410, "Expired"))


def too_many(retry_after_s: int = 0) -> ApiError:
    """429, as an answer."""
    return api_error(status(429, "TooManyRequests", details={"retryAfterSeconds": retry_after_s}))


def too_large(version: int) -> ApiError:
    """504 of a server that has not got so far."""
    details = {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}
    return api_error(status(504, "Timeout", f"Too large resource version: {version}", details=details))


@dataclass
class Recorder:
    """Handler that records its events and verifies that they are consistent."""

    notifications: list[str] = field(default_factory=list)
    """`add ns/a@101`, `update ns/a@101>102`, `delete ns/a@103`, `lost ns/a@102`, in order; `add! …` of a first list."""
    states: dict[str, list[str]] = field(default_factory=dict)
    """Versions in the events of each key; `-` is a deletion."""

    def on_add(self, obj: Ref[Object], is_in_initial_list: bool) -> None:
        assert self._last(obj.key) == "-", f"{obj.key} was there"
        self.notifications.append(f"add{'!' if is_in_initial_list else ''} {obj.key}@{obj.resource_version}")
        self.states.setdefault(obj.key, []).append(obj.resource_version)

    def on_update(self, old: Ref[Object], new: Ref[Object]) -> None:
        assert self._last(old.key) == old.resource_version, f"{old.key} was not at the old version of the update"
        self.notifications.append(f"update {old.key}@{old.resource_version}>{new.resource_version}")
        self.states[new.key].append(new.resource_version)

    def on_delete(self, obj: Deletion[Object]) -> None:
        assert self._last(obj.key) != "-", f"{obj.key} was not there"
        how = "delete" if isinstance(obj, Ref) else "lost"
        self.notifications.append(f"{how} {obj.key}@{last_known(obj).resource_version}")
        self.states[obj.key].append("-")

    def _last(self, key: str) -> str:
        return self.states.get(key, ["-"])[-1]

    def present(self) -> dict[str, str]:
        """Return the last version of each object that exists, from the events."""
        return {key: versions[-1] for key, versions in self.states.items() if versions[-1] != "-"}


@asynccontextmanager
async def running(informer: SharedInformer[Object]) -> AsyncGenerator[SharedInformer[Object], None]:
    """The informer runs in the block, and has ended behind it."""
    task = asyncio.create_task(informer.run())
    try:
        yield informer
    finally:
        if task.done():
            task.result()
        task.cancel()
        await asyncio.wait([task])


def informer_of(server: FakeServer, *, streaming: bool = False, **settings: Any) -> SharedInformer[Object]:
    """An informer with reflector settings; no jitter."""
    reflector = ReflectorSettings(streaming=streaming, rand=lambda: 0.0, **settings)
    return SharedInformer(server, WIDGETS, settings=InformerSettings(reflector))


def state_of(server: FakeServer) -> dict[str, str]:
    """Return the versions of the objects of the server."""
    return {key: obj["metadata"]["resourceVersion"] for key, obj in server.objects.items()}


def store_of(informer: SharedInformer[Object]) -> dict[str, str]:
    """Return the versions of the objects of the informer."""
    return {ref.key: ref.resource_version for ref in informer.indexer.refs()}
