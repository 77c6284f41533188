"""What every active namespace is to have: whether one is active, and making something in it."""

from sampan.client import AlreadyExists, ApiError, NotFound, ResourceClient
from sampan.controllers.pod_control import NAMESPACE_TERMINATING
from sampan.resource import Object


def is_active(namespace: Object) -> bool:
    """Whether things can be made in the namespace."""
    return (namespace.get("status") or {}).get("phase") == "Active"


async def create_in_active(client: ResourceClient[Object], obj: Object) -> None:
    """Create an object, unless it is there already, or its namespace is gone or going. Raises `ApiError` otherwise."""
    try:
        await client.create(obj)
    except (AlreadyExists, NotFound):
        return
    except ApiError as error:
        if not error.has_cause(NAMESPACE_TERMINATING):
            raise
