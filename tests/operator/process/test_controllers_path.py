"""/debug/controllers: to clients with the right to read the path, or with the key of the Lease."""

import json
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from sampan.http.server import Request, Response
from sampan.operator.history.reconcile_history import ReconcileHistory
from sampan.operator.process.metrics_server import MetricsServer
from sampan.operator.queue import WorkQueueMetrics
from sampan.operator.reports import ANNOTATION, ControllerReports, Place
from sampan.operator.reports.place import KEY_HEADER, place_of


class RefusesAll:
    """Access review that refuses every client."""

    async def refusal(self, request: Request) -> Response | None:
        return Response(401, b"no\n")


def served(place: Place) -> MetricsServer:
    reports = ControllerReports(ReconcileHistory(), lambda: (), WorkQueueMetrics(CollectorRegistry()))
    access: Any = RefusesAll()
    registry = CollectorRegistry()
    return MetricsServer(registry, ":0", access=access, certificates=None, reports=reports, place=place)


async def test_the_key_of_the_lease_opens_this_path_only() -> None:
    place = Place("host")
    key = {KEY_HEADER: place.key}
    response = await served(place).respond(Request("GET", "/debug/controllers", key))
    assert response.code == 200
    assert json.loads(response.body)["controllers"] == []
    assert response.headers["cache-control"] == "no-store"
    for path in ("/metrics", "/debug/failing", "/debug/pprof/", "/debug/controllers/", "//debug/controllers"):
        assert (await served(place).respond(Request("GET", path, key))).code == 401


@pytest.mark.parametrize("key", [None, "", "x", "ключ", "k" * 32])
async def test_another_key_opens_nothing(key: str | None) -> None:
    headers = {} if key is None else {KEY_HEADER: key}
    response = await served(Place("host")).respond(Request("GET", "/debug/controllers", headers))
    assert response.code == 401


async def test_an_unchanged_report_is_not_sent_again() -> None:
    place = Place("host")
    server, key = served(place), {KEY_HEADER: place.key}
    first = await server.respond(Request("GET", "/debug/controllers", key))
    again = {**key, "if-none-match": first.headers["etag"]}
    assert (await server.respond(Request("GET", "/debug/controllers", again))).code == 304


def test_a_process_in_a_pod_names_it() -> None:
    inside = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "boats-1"}
    where = json.loads(place_of(inside, "boats-1", "harbour", secure=True).annotations(8443)[ANNOTATION])
    assert (where["namespace"], where["pod"], where["port"], where["scheme"]) == ("harbour", "boats-1", 8443, "https")
    assert len(where["key"]) >= 32


def test_a_process_outside_has_no_key_in_its_lease() -> None:
    place = place_of({"HOSTNAME": "laptop"}, "laptop", "harbour", secure=True)
    assert json.loads(place.annotations(8443)[ANNOTATION]) == {"host": "laptop", "port": 8443, "scheme": "https"}
