"""Requests for the fault injector, and a verb that counts how often it runs."""

from collections.abc import Mapping
from typing import Any

import orjson

from sampan.server.request import Request, Response, UserInfo
from sampan.server.request_info import parse_target
from sampan.testing.faults import Fault, FaultInjector, Plan
from tests.server.requests import make_request

SECRETS = "/api/v1/namespaces/default/secrets"


def request(method: str, target: str, body: Mapping[str, Any] | None = None, user: str = "operator") -> Request:
    """A request as it leaves authorization."""
    content = b"" if body is None else orjson.dumps(body)

    async def read_body(limit: int) -> bytes:
        return content

    parsed = parse_target(method, target.encode())
    headers = {"user-agent": "manager/v1", "content-type": "application/json"}
    return make_request(
        method, parsed.path, parsed.query_string, headers, read_body, parsed.query, parsed.info, UserInfo(user)
    )


class Verb:
    """Stores objects by path, as the verbs behind the injector do."""

    def __init__(self) -> None:
        self.calls = 0
        self.objects: dict[str, dict[str, Any]] = {}

    async def __call__(self, incoming: Request) -> Response:
        """Run the request."""
        self.calls += 1
        if incoming.wire.method in ("POST", "PUT"):
            sent = orjson.loads(await incoming.wire.read_body(1000))
            self.objects[sent["metadata"]["name"]] = sent
        return Response(200)

    def read(self, group: str, resource: str, namespace: str, name: str) -> dict[str, Any] | None:
        """Return a stored object."""
        return self.objects.get(name)


def injector(verb: Verb, *faults: Fault, **options: Any) -> FaultInjector:
    """An injector in front of the verb."""
    return FaultInjector(Plan(faults=faults), objects=verb.read, **options)
