"""Refs made by hand."""

from typing import Any

from sampan.informer import Ref, RefReader
from sampan.resource import Object
from sampan.wire import json
from tests.informer.server import WIDGETS


def ref(name: str, version: int = 1, *, namespace: str = "ns", uid: str = "", **metadata: Any) -> Ref[Object]:
    """A widget as a store holds it."""
    meta = {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}", "resourceVersion": str(version)}
    if not namespace:
        del meta["namespace"]
    body = json.encode({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {**meta, **metadata}})
    return RefReader(WIDGETS).read(body)
