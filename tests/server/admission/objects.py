"""Objects that the tests of admission begin with."""

from typing import Any

from sampan.core.object import Object
from tests.server.cluster import Api, ApiResponse

PODS = "/api/v1/namespaces/default/pods"


def pod(name: str = "p", **spec: Any) -> Object:
    """A Pod with one container c, unless `spec` has other containers."""
    containers = [{"name": "c", "image": "image"}]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def container(name: str = "c", **more: Any) -> Object:
    """A container."""
    return {"name": name, "image": "image", **more}


def with_resources(requests: Object | None = None, limits: Object | None = None, name: str = "c") -> Object:
    """A container with requests and limits."""
    resources = {"requests": requests or {}, "limits": limits or {}}
    return container(name, resources={part: each for part, each in resources.items() if each})


async def refused(api: Api, target: str, obj: Object) -> str:
    """POST that must be answered with 403; gives the message."""
    response: ApiResponse = await api.post(target, obj)
    assert response.code == 403, response.body
    return response.message
