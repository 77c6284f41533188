"""/debug/failing lists the objects that fail, to clients with the right to read that path."""

import datetime as dt
import json
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from sampan.http.server import Request, Response
from sampan.operator import FailingObject
from sampan.operator.process.metrics_server import MetricsServer

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


class Refuses:
    """Access review that refuses every client."""

    async def refusal(self, request: Request) -> Response | None:
        return Response(403, b"no\n")


def server(access: Any = None) -> MetricsServer:
    def failing(*, tries_min: int = 1) -> list[FailingObject]:
        found = [FailingObject("boats", f"default/{tries}", "", "OSError", tries, NOW, NOW, NOW) for tries in (5, 1)]
        return [each for each in found if each.tries >= tries_min]

    return MetricsServer(CollectorRegistry(), "127.0.0.1:0", access=access, certificates=None, failing=failing)


@pytest.mark.parametrize(("query", "names"), [("", ["default/5", "default/1"]), ("?tries-min=2", ["default/5"])])
async def test_failing_objects_are_served(query: str, names: list[str]) -> None:
    response = await server().respond(Request("GET", f"/debug/failing{query}"))
    assert response.code == 200
    found = json.loads(response.body)["failing"]
    assert [each["object"] for each in found] == names
    assert found[0]["nextDue"] == "2030-01-01T00:00:00Z"


async def test_a_client_without_the_right_gets_nothing() -> None:
    response = await server(Refuses()).respond(Request("GET", "/debug/failing"))
    assert response.code == 403
    assert b"default" not in response.body


@pytest.mark.parametrize("tries", ["x", "-1", "1" * 20, ""])
async def test_an_invalid_number_is_refused(tries: str) -> None:
    response = await server().respond(Request("GET", f"/debug/failing?tries-min={tries}"))
    assert response.code == 400
