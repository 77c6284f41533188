"""Attempts: requests of all verbs, subresources and aliases of a resource, with the rights that each needs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.attack.catalogue import Resource
from tests.attack.model import Attributes

JSON = "application/json"
PATCHES = (
    ("application/json-patch+json", b'[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]'),
    ("application/merge-patch+json", b'{"metadata":{"labels":{"a":"b"}}}'),
    ("application/strategic-merge-patch+json", b'{"metadata":{"labels":{"a":"b"}}}'),
)
APPLIES = ("application/apply-patch+yaml", "application/apply-patch+cbor")
VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "DELETE": "delete"}
EXISTING = frozenset({"configmaps", "pods", "secrets"})
"""Resources of which `one` exists: a PUT of it creates nothing."""
STREAMS = frozenset({"exec", "attach", "portforward"})


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request and the rights that it needs, in the order in which the server checks them."""

    method: str
    target: str
    needed: tuple[Attributes, ...]
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)

    def dry(self) -> "Attempt":
        """Return the same attempt without an effect."""
        if self.method in ("GET", "HEAD") or "/proxy" in self.target:
            return self
        target = f"{self.target}{'&' if '?' in self.target else '?'}dryRun=All"
        return Attempt(self.method, target, self.needed, self.body, self.content_type, self.headers)

    def __str__(self) -> str:
        return f"{self.method} {self.target[:200]} ({self.content_type})"


def _encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def of_collection(resource: Resource, namespace: str) -> Iterator[Attempt]:
    """Return all that can be sent to a collection. Without a namespace: to the objects of all namespaces."""
    path, body = resource.collection(namespace), _encoded(resource.body("absent", namespace))
    space = namespace if resource.namespaced else ""

    def needs(verb: str, name: str = "") -> tuple[Attributes, ...]:
        return (Attributes(verb, resource.group, resource.name, space, name),)

    for query in ("", "?limit=1", "?watch=false", "?watch=0", "?resourceVersion=0", "?labelSelector=a%3Db"):
        yield Attempt("GET", path + query, needs("list"))
    yield Attempt("GET", f"{path}?fieldSelector=metadata.name%3Done", needs("list", "one"))
    yield Attempt("HEAD", path, needs("list"))
    for query in ("watch=1", "watch=true", "watch", "watch=TRUE", "watch=1&watch=0", "watch=x"):
        yield Attempt("GET", f"{path}?{query}&timeoutSeconds=1", needs("watch"))
    yield Attempt("GET", f"{path}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Done", needs("watch", "one"))
    watched = resource.collection(namespace, "/watch")
    yield Attempt("GET", f"{watched}?timeoutSeconds=1", needs("watch"))
    yield Attempt("GET", f"{watched}/one?timeoutSeconds=1", needs("watch", "one"))
    yield Attempt("POST", path, needs("create"), body)
    yield Attempt("POST", f"{path}?fieldManager=x&fieldValidation=Ignore", needs("create"), body)
    yield Attempt("DELETE", path, needs("deletecollection"))
    yield Attempt("DELETE", f"{path}?labelSelector=a%3Db", needs("deletecollection"))
    yield Attempt("PUT", path, needs("update"), body)
    for content_type, patch in PATCHES:
        yield Attempt("PATCH", path, needs("patch"), patch, content_type)


def of_object(resource: Resource, namespace: str, name: str, subresource: str = "") -> Iterator[Attempt]:
    """Return all that can be sent to an object, or to a subresource of it."""
    path = resource.path(name, subresource, namespace)
    body = _encoded(resource.body(name, namespace))
    space = namespace if resource.namespaced else (name if _is_namespace(resource) else "")
    whole = f"{resource.name}/{subresource}" if subresource else resource.name

    def needs(*verbs: str) -> tuple[Attributes, ...]:
        return tuple(Attributes(verb, resource.group, whole, space, name) for verb in verbs)

    created = () if subresource or (name == "one" and resource.name in EXISTING) else ("create",)
    for method, verb in VERBS.items():
        verbs = (verb, *created) if method == "PUT" else (verb,)
        yield Attempt(method, path, needs(*verbs), body if method in ("POST", "PUT") else b"")
    yield Attempt("GET", f"{path}?watch=1&timeoutSeconds=1", needs("get"))
    yield Attempt("GET", path, needs("get"), headers={"X-HTTP-Method-Override": "DELETE"})
    if subresource in STREAMS:
        yield Attempt("GET", path, needs("get", "create"), headers=UPGRADE)
        yield Attempt("POST", path, needs("create"), headers=UPGRADE)
    if subresource == "proxy":
        for method, verb in VERBS.items():
            yield Attempt(method, f"{path}/a/b", needs(verb))
    for content_type, patch in PATCHES:
        yield Attempt("PATCH", path, needs("patch"), patch, content_type)
    for content_type in APPLIES:
        yield Attempt("PATCH", f"{path}?fieldManager=x", needs("patch", *created), body, content_type)


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Protocol": "v5.channel.k8s.io",
}


def of_resource(resource: Resource, namespace: str, name: str) -> Iterator[Attempt]:
    """Return everything of a resource."""
    yield from of_collection(resource, namespace)
    if resource.namespaced and not namespace:
        return
    for subresource in ("", *resource.subresources):
        yield from of_object(resource, namespace, name, subresource)


def _is_namespace(resource: Resource) -> bool:
    """Return True for Namespaces, whose requests are in the namespace itself."""
    return resource.name == "namespaces" and resource.group == ""
