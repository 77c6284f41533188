"""`drift`: another actor deletes or changes the object of a request."""

import orjson

from sampan.client import Client, NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo
from sampan.testing.faults.drift import change_a_field
from sampan.testing.requests import SentRequest


async def drift(client: Client, sent: SentRequest, *, deleted: bool) -> bool:
    """Delete the object that a request has written, or change one of its fields. Return False if that is impossible."""
    info = sent.info
    written = orjson.loads(sent.request.body)
    name = info.name or written["metadata"].get("name", "")
    if not name:
        return False
    gvr = GroupVersionResource(info.group, info.version, info.resource)
    kind = ResourceInfo(gvr, str(written.get("kind", "")), namespaced=bool(info.namespace))
    client = client.with_defaults(namespace=info.namespace)
    if not deleted:
        return bool(await change_a_field(client, kind, name, written))
    try:
        await client.resource(kind).delete(name)
    except NotFound:
        return False
    return True
