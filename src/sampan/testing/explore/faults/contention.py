"""Contention: another client changes an object between the operator's read and its write.

The other client sets a label, and appends a condition if the operator writes the status. Or it is the user, whose next
change comes early, and again later.

If the write of the operator succeeds and removes the change, it has overwritten something that it did not read. That is
no fault of an object that the operator has created, because it may own all of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client import ApiError, Client, MergePatch, NotFound
from sampan.client.transport import HttpRequest, HttpResponse
from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object, ResourceInfo
from sampan.testing.cluster import TEST, Cluster
from sampan.testing.explore.plan import OVERTAKEN, PlannedFault, WriteId
from sampan.testing.requests import Proceed, SentRequest

OTHER: Final = "another client"
"""Actor of the changes."""
LABEL: Final = "another-client.example.com/label"
CONDITION: Final = "SetByAnotherClient"
_STATUS: Final = "status"


@dataclass(slots=True)
class Contention:
    """Change of one object in one run. `sent` has the user's requests of the run without a fault."""

    cluster: Cluster
    plan: PlannedFault | None
    sent: Mapping[WriteId, HttpRequest] = field(default_factory=dict)
    fired: bool = False

    async def around(self, sent: SentRequest, proceed: Proceed, *, is_made: bool) -> tuple[HttpResponse, str]:
        """Change the object, send the write, and return its response with the change that it has overwritten.

        `is_made`: the operator has created the object.
        """
        assert self.plan is not None
        client = self.cluster.client(actor=OTHER).with_defaults(namespace=sent.info.namespace)
        if self.plan.fault == OVERTAKEN:
            self.fired = await self._overtake(self.plan.until)
            return await proceed(), ""
        info = sent.info
        kind = ResourceInfo(GroupVersionResource(info.group, info.version, info.resource), "", bool(info.namespace))
        before = await self._change(client, kind, info.name, with_status=info.subresource == _STATUS)
        response = await proceed()
        if before is None or is_made or response.status >= 300:
            return response, ""
        return response, await _overwritten(client, kind, before)

    async def _overtake(self, change: WriteId | None) -> bool:
        request = None if change is None else self.sent.get(change)
        if request is None:
            return False
        response = await self.cluster.client(actor=OTHER).rest.transport.send(request)
        await response.read()
        return response.status < 300

    async def _change(self, client: Client, kind: ResourceInfo, name: str, *, with_status: bool) -> Object | None:
        """Change the object. Return it with the change; None if it does not exist."""
        objects = client.resource(kind)
        try:
            changed = await objects.patch(name, MergePatch({"metadata": {"labels": {LABEL: "set"}}}))
            if with_status:
                changed = await _with_condition(client, kind, changed)
        except ApiError:  # it is absent, or the server refuses labels
            return None
        self.fired = True
        return changed


async def _with_condition(client: Client, kind: ResourceInfo, obj: Object) -> Object:
    """Append a condition. The object stays as it is if its status has no place for one."""
    present = (obj.get(_STATUS) or {}).get("conditions") or []
    condition = {
        "type": CONDITION,
        "status": "True",
        "reason": "Other",
        "message": "set by another client",
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    }
    patch = MergePatch({_STATUS: {"conditions": [*present, condition]}})
    try:
        return await client.resource(kind).patch(obj["metadata"]["name"], patch, subresource=_STATUS)
    except ApiError:
        return obj


async def _overwritten(client: Client, kind: ResourceInfo, before: Object) -> str:
    """Return the change that an object has lost; "" for none."""
    metadata = before["metadata"]
    try:
        now = await client.resource(kind).get(metadata["name"])
    except NotFound:
        return ""
    if now["metadata"]["uid"] != metadata["uid"]:
        return ""
    name = f"{kind.gvr.resource} {metadata['name']}"
    if LABEL not in (now["metadata"].get("labels") or {}):
        return f"lost update: the write of {name} removes a label that another client has just set"
    if _has_condition(before) and not _has_condition(now):
        return f"lost update: the write of {name} removes a condition that another client has just set"
    return ""


def _has_condition(obj: Mapping[str, Any]) -> bool:
    conditions = (obj.get(_STATUS) or {}).get("conditions") or ()
    return any(map(_is_ours, conditions))


def is_made_by_operator(place: tuple[str, str, str], writes: list[WriteId], needed: list[WriteId]) -> bool:
    """Return True if no user has written an object."""
    return not any(each.place == place and (each.actor == TEST or each in needed) for each in (*writes, *needed))


def without_change(value: Any) -> Any:
    """Return a state without the changes of the other client, to compare it."""
    if isinstance(value, dict):
        found = {key: without_change(each) for key, each in value.items() if key != LABEL}
        # A part that has only the change would not exist without it.
        changed = (
            ("labels", value.get("labels") == {LABEL: "set"}),
            ("conditions", _only_ours(value.get("conditions"))),
        )
        return {key: each for key, each in found.items() if (key, True) not in changed}
    if isinstance(value, list):
        return [without_change(each) for each in value if not _is_ours(each)]
    return value


def _only_ours(conditions: Any) -> bool:
    return isinstance(conditions, list) and bool(conditions) and all(map(_is_ours, conditions))


def _is_ours(condition: Any) -> bool:
    return isinstance(condition, dict) and condition.get("type") == CONDITION
