"""CustomResourceDefinitions and custom resources for tests: shirts, in the group stable.example.com."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.server.cluster import Api, ApiResponse

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OLD_CRDS = "/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions"
GROUP = "stable.example.com"
NAME = f"shirts.{GROUP}"
CRD = f"{CRDS}/{NAME}"
SHIRTS = f"/apis/{GROUP}/v1/namespaces/default/shirts"

Json = dict[str, Any]


def schema(spec: Json | None = None, status: Json | None = None, **root: Any) -> Json:
    """A schema of an object with the properties of `spec` and `status`."""
    properties: Json = {}
    if spec is not None:
        properties["spec"] = {"type": "object", "properties": spec}
    if status is not None:
        properties["status"] = {"type": "object", "properties": status}
    return {"type": "object", "properties": properties, **root}


COLOR = schema({"color": {"type": "string"}, "size": {"type": "integer"}})


def version(name: str = "v1", openapi: Json | None = None, *, storage: bool = True, **more: Any) -> Json:
    """One version; `more` are further fields."""
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": COLOR if openapi is None else openapi},
        **more,
    }


def crd(*versions: Json, names: Json | None = None, group: str = GROUP, scope: str = "Namespaced", **spec: Any) -> Json:
    """A CRD of shirts, unless the arguments name another kind."""
    names = {"plural": "shirts", "kind": "Shirt", **(names or {})}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": names,
            "versions": list(versions) or [version()],
            **spec,
        },
    }


def shirt(name: str = "a", spec: Json | None = None, *, api: str = "v1", **more: Any) -> Json:
    """A shirt."""
    result: Json = {"apiVersion": f"{GROUP}/{api}", "kind": "Shirt", "metadata": {"name": name}, **more}
    if spec is not None:
        result["spec"] = spec
    return result


async def define(api: Api, openapi: Json | None = None, **more: Any) -> Json:
    """Create the CRD with one version; `more` are further fields of that version."""
    created: Json = await api.create(CRDS, crd(version("v1", openapi, **more)))
    return created


async def change(api: Api, alter: Callable[[Json], Any], path: str = CRD) -> ApiResponse:
    """Read, alter, PUT."""
    obj = (await api.get(path)).body
    alter(obj)
    return await api.put(path, obj)


async def eventually(fetch: Callable[[], Awaitable[ApiResponse]], holds: Callable[[ApiResponse], Any]) -> ApiResponse:
    """Repeat a request until the answer holds; at most a minute."""
    async with asyncio.timeout(60):
        while True:
            response = await fetch()
            if holds(response):
                return response
            await asyncio.sleep(0.005)


def condition(body: Json, kind: str) -> Json:
    """A condition of a CRD; empty when it is not there."""
    found: Json = next((one for one in body["status"]["conditions"] if one["type"] == kind), {})
    return found


def messages(response: ApiResponse) -> list[str]:
    """`field: message` of each cause."""
    return [f"{cause.get('field', '')}: {cause['message']}" for cause in response.causes]
