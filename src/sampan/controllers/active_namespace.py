"""Checks and creation of the objects that every active namespace must contain."""

from __future__ import annotations

from typing import TypeVar

from sampan.client import AlreadyExists, ApiError, NotFound, ResourceClient
from sampan.controllers.workloads.pod_control import NAMESPACE_TERMINATING
from sampan.kinds import core_v1

T = TypeVar("T")


def is_active(namespace: core_v1.Namespace) -> bool:
    """Return True if objects can be created in the namespace."""
    return (namespace.get("status") or {}).get("phase") == "Active"


async def create_in_active(client: ResourceClient[T], obj: T) -> None:
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
