"""An extension API server of boats, in this process."""

from collections.abc import Sequence
from typing import Any

from sampan.core.object import Object
from sampan.registry.definition import Column
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.authentication.static_token import StaticTokenAuthenticator
from sampan.server.authorization.masters import MastersAuthorizer
from sampan.server.extension.computed import ComputedResource
from sampan.server.extension.server import ExtensionServer
from tests.server.client import Client
from tests.server.frame import MASTER, TOKENS

GROUP_VERSION = ("boats.example.com", "v1")
PATH = "/apis/boats.example.com/v1"


def boat(name: str, namespace: str = "", **labels: str) -> Object:
    """A boat."""
    place = {"namespace": namespace} if namespace else {}
    return {"metadata": {"name": name, **place, **({"labels": labels} if labels else {})}, "length": len(name)}


BOATS = [boat("junk", "a", sails="2"), boat("sampan", "a"), boat("raft", "b")]


async def list_boats(namespace: str) -> Sequence[Object]:
    """Those of a namespace, or all."""
    return [each for each in BOATS if namespace in ("", each["metadata"]["namespace"])]


async def list_harbours(namespace: str) -> Sequence[Object]:
    """One."""
    return [boat("aberdeen")]


def length_of(obj: Object) -> Any:
    """A cell."""
    return obj["length"]


def name_of(obj: Object) -> Any:
    """A cell."""
    return obj["metadata"]["name"]


RESOURCES = [
    ComputedResource(
        "boats",
        "Boat",
        list_boats,
        singular="boat",
        schema={"type": "object", "properties": {"length": {"type": "integer", "description": "In metres."}}},
        columns=(Column("Name", "string", name_of), Column("Length", "integer", length_of)),
    ),
    ComputedResource("harbours", "Harbour", list_harbours, namespaced=False),
]


def client(headers: dict[str, str] | None = None) -> Client:
    """A client of a new server, with the administrator's rights by default."""
    authenticator = BearerTokenAuthenticator([StaticTokenAuthenticator(TOKENS)])
    server = ExtensionServer(GROUP_VERSION, RESOURCES, authenticator, MastersAuthorizer())
    server.lifecycle.serving = True
    return Client(server.handler, {"user-agent": "tests/1", **(MASTER if headers is None else headers)})
