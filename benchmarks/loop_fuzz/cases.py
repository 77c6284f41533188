"""Requests of the benchmark. Each is a `Case`, large or complex in one way, with a body of at most 3 MiB."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import orjson

BODY_BYTES_MAX = 3 * 1024 * 1024
STORED_BYTES_MAX = 1_400_000
ITEMS_BYTES_MAX = BODY_BYTES_MAX - 4096
"""Maximum size of a list or map in a body; tests use a smaller one."""
NAMESPACE = "default"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
CONFIG_MAPS = f"{CORE}/configmaps"
PODS = f"{CORE}/pods"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_NUMBERS = count()
JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Call:
    """One request."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """A named request; `before` is sent first and is not measured. The body is made just before it is sent."""

    name: str
    make: Callable[[], Call]
    before: Callable[[], list[Call]] = list


def encoded(value: Any) -> bytes:
    """Return the value as JSON. Raises `ValueError` above the size limit, because a server would refuse such a body."""
    body = orjson.dumps(value)
    if len(body) > BODY_BYTES_MAX:
        raise ValueError(f"a body of {len(body)} bytes")
    return body


def repeated(item: Any, limit: int = BODY_BYTES_MAX) -> list[Any]:
    """Return as many items as fit into `limit` bytes. `item` is a value, or a function of the index."""
    limit = min(limit, ITEMS_BYTES_MAX)
    if not callable(item):
        return [item] * (limit // (len(orjson.dumps(item)) + 1))
    found: list[Any] = []
    size = index = 0
    while True:
        made = item(index)
        size += len(orjson.dumps(made)) + 1
        if size > limit:
            return found
        found.append(made)
        index += 1


def mapped(entry: Callable[[int], tuple[str, Any]], limit: int = BODY_BYTES_MAX) -> dict[str, Any]:
    """Return a map with as many entries as fit into `limit` bytes."""
    return dict(repeated(entry, limit))


def post(name: str, path: str, make: Callable[[], Any], content_type: str = JSON) -> Case:
    """Return the case of a POST of the result of `make`, as JSON unless it is bytes.

    A number is appended to a short name, so that each object gets a different one.
    """

    def call() -> Call:
        made = make()
        name = made["metadata"].get("name", "") if isinstance(made, dict) and "metadata" in made else ""
        if 0 < len(name) < 20:
            made["metadata"]["name"] = f"{name}-{next(_NUMBERS)}"
        return Call("POST", path, made if isinstance(made, bytes) else encoded(made), content_type)

    return Case(name, call)


def get(name: str, path: str, **headers: str) -> Case:
    """Return the case of a GET."""
    return Case(name, lambda: Call("GET", path, headers=headers))


def config_map(name: str = "a", **fields: Any) -> dict[str, Any]:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **fields}


def with_metadata(**metadata: Any) -> dict[str, Any]:
    """Return a ConfigMap with this metadata."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "meta", **metadata}}


def pod(**spec: Any) -> dict[str, Any]:
    """Return a Pod with one container, unless `spec` has containers."""
    containers = [{"name": "c", "image": "i"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


def in_container(**fields: Any) -> dict[str, Any]:
    """Return a Pod with one container, which has these fields."""
    return pod(containers=[{"name": "c", "image": "i", **fields}])


def crd(plural: str, schema: dict[str, Any], **version: Any) -> dict[str, Any]:
    """Return a CRD with one version."""
    kind = plural.capitalize()
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.fuzz.example.com"},
        "spec": {
            "group": "fuzz.example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
            ],
        },
    }


def custom(plural: str, **fields: Any) -> dict[str, Any]:
    """Return an object of a CRD that `crd` has made."""
    return {"apiVersion": "fuzz.example.com/v1", "kind": plural.capitalize(), "metadata": {"name": "x"}, **fields}


def custom_path(plural: str) -> str:
    """Return the path of the objects of a CRD that `crd` has made."""
    return f"/apis/fuzz.example.com/v1/namespaces/{NAMESPACE}/{plural}"
