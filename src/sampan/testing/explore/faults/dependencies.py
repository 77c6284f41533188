"""Objects that an operator needs, and the faults that one of them is absent at first, or is deleted later.

The absent object is created after some time. Objects that cannot exist without it are created with it: those of a
namespace, or of the kind that a CRD defines. Until then, requests of the user to these objects wait; all others
proceed.

A deleted object is created again with the same content after some time. With the fault `removed` it stays away until
the user sends a request to it.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client import Client, NotFound
from sampan.client.transport import HttpResponse
from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.object import Object
from sampan.testing.cluster import Cluster
from sampan.testing.explore.plan import ABSENT, DELETIONS, REMOVED, PlannedFault, WriteId
from sampan.testing.object_verbs import objects_of
from sampan.testing.requests import Proceed, SentRequest

DEPENDENCY: Final = "dependency"
"""Actor of the creations."""
ABSENT_S: Final = 30.0
"""Virtual seconds for which an object is absent."""
_CRD: Final = "CustomResourceDefinition"


@dataclass(slots=True)
class Dependencies:
    """Objects of `Scenario.needs` in one run."""

    cluster: Cluster
    plan: PlannedFault | None
    tasks: TaskScope
    created: list[WriteId] = field(default_factory=list)
    """Creations before the operator starts."""
    moments: list[WriteId] = field(default_factory=list)
    """Writes after these creations, and the operator's reads of these objects. One may be deleted after each."""
    fired: bool = False
    _objects: dict[WriteId, Object] = field(default_factory=dict)
    _absent: WriteId | None = None
    _late: list[Object] = field(default_factory=list)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _referred: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the user sends a request to the absent object."""

    async def create(self, needs: Iterable[Any]) -> None:
        """Create the objects. The absent object, and the objects that need it, are created later by a task."""
        client = self.cluster.client(actor=DEPENDENCY)
        at = self.plan.at if self.plan is not None and self.plan.fault == ABSENT else None
        if at is not None:
            # Later, a discovery by the user is the search for an absent kind.
            await self.cluster.admin().mapper.discovered()
        for obj in (dict(obj) for each in needs for obj in objects_of(each)):
            if any(_is_in(obj, late) for late in self._late):
                self._late.append(obj)
                continue
            write = await _creation_of(client, obj)
            if write == at:
                self._absent, self.fired = write, True
                self._late.append(obj)
            else:
                await self._create(client, obj)
                self.created.append(write)
                self._objects[write] = obj
        if self._absent is None:
            self._arrived.set()
        else:
            self.tasks.begin(self._arrive(client), "absent dependency")

    async def arrived(self) -> None:
        """Wait until no object is absent, except one that is removed for good."""
        if self.plan is None or self.plan.fault != REMOVED or self._referred.is_set():
            await self._arrived.wait()

    async def hold(self, sent: SentRequest) -> None:
        """Delay a request of the user while it needs the absent object."""
        if self._absent is None or self._arrived.is_set():
            return
        info, absent = sent.info, self._absent
        kind = self._late[0]["kind"]
        is_it = (info.resource, info.namespace, info.name) == absent.place
        is_in = kind == "Namespace" and info.namespace == absent.name
        is_discovery = kind == _CRD and not info.resource
        if is_it or is_in or is_discovery:
            self._referred.set()
            await self._arrived.wait()

    def is_read(self, sent: SentRequest) -> bool:
        """Return True for a read of one of the objects, in a run in which it matters."""
        info = sent.info
        matters = bool(self.created) and (self.plan is None or self.plan.fault in DELETIONS)
        place = (info.resource, info.namespace, info.name)
        return matters and info.verb == "get" and any(each.place == place for each in self.created)

    async def read(self, read: WriteId, proceed: Proceed) -> HttpResponse:
        """Send a read of one of the objects."""
        response = await proceed()
        await self.done(read)
        return response

    async def done(self, moment: WriteId) -> None:
        """Record a write, or a read of an object. Delete the object of the plan if this is the moment for it."""
        if not self.created:
            return
        self.moments.append(moment)
        plan = self.plan
        if plan is not None and plan.fault in DELETIONS and plan.until == moment and not self.fired:
            await self._delete(plan.at)

    async def _delete(self, at: WriteId) -> None:
        """Delete an object, unless it is gone or another client protects it with a finalizer."""
        client, obj = self.cluster.client(actor=DEPENDENCY), self._objects[at]
        objects = await client.resource_for(obj, namespace=at.namespace or None)
        try:
            found = await objects.get(at.name)
        except NotFound:
            return
        if found["metadata"].get("finalizers"):
            return
        self._absent, self._late, self.fired = at, [_again(found)], True
        self._arrived.clear()
        await objects.delete(at.name)
        self.tasks.begin(self._arrive(client), "deleted dependency")

    async def _arrive(self, client: Client) -> None:
        if self.plan is not None and self.plan.fault == REMOVED:
            await self._referred.wait()
        else:
            await asyncio.sleep(ABSENT_S)
        for obj in self._late:
            await self._create(client, obj)
        self._arrived.set()

    async def _create(self, client: Client, obj: Object) -> None:
        namespace = obj["metadata"].get("namespace")
        await (await client.resource_for(obj, namespace=namespace)).create(obj)
        if obj["kind"] == _CRD:
            # Its kind is served a moment later.
            await asyncio.sleep(1.0)
            client.mapper.invalidate()


async def _creation_of(client: Client, obj: Object) -> WriteId:
    info = await client.mapper.resource_for(obj)
    namespace = obj["metadata"].get("namespace", "default") if info.namespaced else ""
    return WriteId(DEPENDENCY, "create", info.gvr.resource, namespace, obj["metadata"]["name"], 1)


def _again(obj: Mapping[str, Any]) -> Object:
    """Return an object for its second creation."""
    again = ("name", "namespace", "labels", "annotations")
    metadata = {key: value for key, value in obj["metadata"].items() if key in again}
    return {key: value for key, value in obj.items() if key != "status"} | {"metadata": metadata}


def _is_in(obj: Mapping[str, Any], late: Mapping[str, Any]) -> bool:
    """Return True if an object cannot exist without another one."""
    if late["kind"] == "Namespace":
        return bool(obj["metadata"].get("namespace") == late["metadata"]["name"])
    if late["kind"] != _CRD:
        return False
    spec = late["spec"]
    group = str(obj["apiVersion"]).rpartition("/")[0]
    return (group, obj["kind"]) == (spec["group"], spec["names"]["kind"])
