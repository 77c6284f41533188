"""`Harbour`, a custom resource, and operators of it: a right one, and some with bugs of updates."""

from collections.abc import Callable
from typing import Any, Final

from sampan.client import MergePatch
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Result
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.request import Request
from sampan.resource import Object, ResourceInfo
from tests.testing.generated.crds import COUNT, TEXT, crd, fields

HARBOURS = ResourceInfo(GroupVersionResource("example.com", "v1", "harbours"), "Harbour", namespaced=True)
MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
BERTH: Final = fields("name", "length", name={"minLength": 1, **TEXT}, length={"minimum": 1, "maximum": 400, **COUNT})
CRD: Final = crd(
    fields(
        "berths",
        "mode",
        berths={"type": "array", "items": BERTH},
        mode={"enum": ["Open", "Closed"], **TEXT},
        motto={"maxLength": 30, **TEXT},
        depth={"minimum": 0, "maximum": 50, **COUNT},
        lights={"type": "boolean"},
        place={"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "is immutable"}]},
    ),
    "Harbour",
    subresources={"status": {}},
)
CRD["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"] = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
}
HARBOUR: Final[dict[str, Any]] = {
    "apiVersion": "example.com/v1",
    "kind": "Harbour",
    "metadata": {"name": "west"},
    "spec": {
        "berths": [{"name": "a", "length": 12}],
        "mode": "Open",
        "motto": "calm",
        "depth": 4,
        "lights": True,
        "place": "here",
    },
}
RIGHT, ONCE, STUCK, LEFT_OVER = "right", "once", "stuck", "left over"


def operator(behaviour: str = RIGHT) -> Callable[[Manager], None]:
    """Return an operator that keeps a ConfigMap with the spec.

    `once`: it sets the depth only at the creation. `stuck`: an error in the status is never removed. `left over`: a
    ConfigMap for the lights stays when they are turned off.
    """

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> Result:
            client = manager.client
            found: Object | None = await client.resource(HARBOURS).find(request)
            if found is None:
                return Result()
            spec, status = found["spec"], found.get("status", {})
            if behaviour == STUCK and status.get("phase") == "Failed":
                return Result()
            if spec.get("motto") == "no-such-value!":
                await client.resource(HARBOURS).status.patch(request.name, MergePatch({"status": {"phase": "Failed"}}))
                raise ValueError("no such motto")
            present = {each["metadata"]["name"]: each for each in (await client.resource(MAPS).list()).items}
            desired = {key: str(value) for key, value in spec.items()}
            if behaviour == ONCE and "west" in present:
                desired["depth"] = present["west"]["data"].get("depth", "")
            await apply_map(client, found, "west", desired)
            if spec.get("lights") or (behaviour == LEFT_OVER and "lights" in present):
                await apply_map(client, found, "lights", {"on": "true"})
            elif "lights" in present:
                await client.resource(MAPS).delete("lights")
            await client.resource(HARBOURS).status.patch(request.name, MergePatch({"status": {"phase": "Ready"}}))
            return Result()

        Builder(manager).for_(HARBOURS).complete(reconcile)

    return set_up


async def apply_map(client: Any, owner: Object, name: str, data: dict[str, str]) -> None:
    """Create or replace a ConfigMap that the harbour owns."""
    reference = {"apiVersion": "example.com/v1", "kind": "Harbour", "controller": True}
    reference |= {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    metadata = {"name": name, "namespace": "default", "ownerReferences": [reference]}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    await client.resource(MAPS).apply(made, field_manager="operator", force=True)
