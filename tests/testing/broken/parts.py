"""Parts that broken operators share: the object of the user, and a reconciler that copies it into a Secret."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from sampan.component_base.resources import CONFIG_MAPS, SECRETS
from sampan.core.gvk import GroupVersionResource
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.request import Request
from sampan.resource import ResourceInfo

Operator = Callable[[Manager], Any]
Work = Callable[[Manager, Request], Awaitable[Any]]
NAME: Final = "boats"
ADA: Final[Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ada"}, "data": {"length": "40"}}
BOATS: Final = ResourceInfo(GroupVersionResource("harbour.example.com", "v1", "boats"), "Boat", namespaced=True)
"""A kind that no server has."""


async def copied(manager: Manager, request: Request) -> None:
    """Copy the ConfigMap into a Secret that it owns, as a right operator does."""
    found = await manager.client.resource(CONFIG_MAPS).find(request)
    if found is not None:
        await manager.client.resource(SECRETS).apply(secret_of(found), force=True)


def secret_of(found: Any, **values: str) -> Any:
    """Return the Secret of a ConfigMap."""
    name, uid = found["metadata"]["name"], found["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "controller": True}
    metadata = {"name": name, "namespace": "default", "ownerReferences": [owner]}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "stringData": {**found.get("data", {}), **values},
    }


def controller(work: Work = copied, **options: Any) -> Operator:
    """Return an operator with one controller of ConfigMaps. `options` are those of `Builder.for_`."""

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> Any:
            return await work(manager, request)

        Builder(manager).for_(CONFIG_MAPS, **options).named(NAME).complete(reconcile)

    return set_up
