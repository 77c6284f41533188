"""Checks and creation of the objects that every active namespace must contain."""

from sampan.client import AlreadyExists, ApiError, NotFound, ResourceClient
from sampan.controllers.workloads.pod_control import NAMESPACE_TERMINATING
from sampan.resource import Object


def is_active(namespace: Object) -> bool:
    """Return True if objects can be created in the namespace."""
    return (namespace.get("status") or {}).get("phase") == "Active"


async def create_in_active(client: ResourceClient[Object], obj: Object) -> None:
    """Create an object. Do nothing if it exists already, or if its namespace is missing or terminating.

    Raises `ApiError` for every other failure.
    """
    try:
        await client.create(obj)
    except (AlreadyExists, NotFound):
        return
    except ApiError as error:
        if not error.has_cause(NAMESPACE_TERMINATING):
            raise
