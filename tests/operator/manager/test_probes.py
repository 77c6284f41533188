"""Health, readiness and metrics over HTTP."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry, Counter

from sampan.client.client import Client
from sampan.client.transport import HttpRequest, HttpResponse
from sampan.http.server import Request, Response
from sampan.operator.manager import Manager, ManagerOptions, Probes
from tests.operator.manager.frame import NoTransport, manager, running
from tests.operator.refs import NETWORKS


async def fetch(port: int, request: bytes) -> tuple[int, str]:
    """Send bytes, read all: the code and the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    response = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    head, _, body = response.partition("\r\n\r\n")
    return int(head.split(" ")[1]), body


def get(target: str, method: str = "GET") -> bytes:
    return f"{method} {target} HTTP/1.1\r\nhost: x\r\n\r\n".encode()


def probes() -> Probes:
    registry = CollectorRegistry()
    Counter("things_total", "Things", registry=registry).inc(3)
    return Probes(registry, "127.0.0.1:0")


async def test_a_manager_serves_probes_before_its_caches_have_started() -> None:
    made = manager(ManagerOptions(probe_address="127.0.0.1:0"))
    made.new_controller("c", lambda request: None)
    async with running(made):
        await made.probes.ready()
        port = made.probes.port
        assert await fetch(port, get("/healthz")) == (200, "ok")
        assert await fetch(port, get("/readyz?verbose")) == (
            200,
            "[+]ping ok\n[+]informer-sync ok\nreadyz check passed\n",
        )
        code, metrics = await fetch(port, get("/metrics"))
        assert code == 200
        assert 'controller_runtime_reconcile_total{controller="c",result="success"} 0.0' in metrics
        assert "workqueue_depth" in metrics
        assert await fetch(port, get("/healthz", "HEAD")) == (200, "")


async def test_a_manager_is_not_ready_before_its_informers_are() -> None:
    class Silent(NoTransport):
        async def send(self, request: HttpRequest) -> HttpResponse:
            await asyncio.get_running_loop().create_future()
            raise AssertionError

    made = Manager(Client(Silent()), ManagerOptions(probe_address="127.0.0.1:0"))
    made.informer_for(NETWORKS)
    async with running(made):
        await made.probes.ready()
        code, text = await fetch(made.probes.port, get("/readyz"))
        assert (code, "[-]informer-sync failed" in text) == (500, True)
        assert await fetch(made.probes.port, get("/healthz")) == (200, "ok")


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (get("/other"), (404, "404 page not found\n")),
        (get("/healthz/unknown"), (404, "404 page not found\n")),
        (get("/healthz", "POST"), (405, "only GET\n")),
        (b"garbage\r\n\r\n", (400, "no HTTP/1\n")),
        (get("/healthz/ping/"), (200, "ok")),
    ],
    ids=["path", "check", "method", "garbage", "one check"],
)
async def test_requests_over_a_socket(request_: bytes, expected: tuple[int, str]) -> None:
    served = probes()
    task = asyncio.create_task(served.run())
    await served.ready()
    assert await fetch(served.port, request_) == expected
    task.cancel()
    await asyncio.wait({task})


async def test_a_failed_check_reports_which_but_not_why() -> None:
    served = probes()

    async def fail() -> None:
        raise ValueError("secret")

    served.add_healthz_check("database", fail)
    response = await served.respond(Request("GET", "/healthz"))
    assert response == Response(500, b"[+]ping ok\n[-]database failed: reason withheld\nhealthz check failed\n")
    assert (await served.respond(Request("GET", "/healthz?exclude=database"))).code == 200
    assert (await served.respond(Request("GET", "/healthz/database"))).code == 500
    assert (await served.respond(Request("GET", "/readyz"))).code == 200


async def test_a_check_has_its_name_alone() -> None:
    served = probes()
    served.add_readyz_check("database", lambda: None)
    with pytest.raises(ValueError, match="there is a readyz check 'database' already"):
        served.add_readyz_check("database", lambda: None)


async def test_metrics_are_those_of_the_registry() -> None:
    response = await probes().respond(Request("GET", "/metrics"))
    assert (response.code, b"things_total 3.0" in response.body) == (200, True)
    assert response.media_type.startswith("text/plain")
