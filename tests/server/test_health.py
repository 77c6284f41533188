"""Health endpoints and their checks."""

import asyncio

import pytest

from sampan.server.health import Health
from sampan.server.lifecycle import Lifecycle
from sampan.server.request import Request, Response
from tests.server.client import Client
from tests.server.cluster import served


async def passing() -> None:
    return None


async def failing() -> None:
    raise OSError("disk on fire")


def health(store: object = passing) -> tuple[Health, Lifecycle, Client]:
    lifecycle = Lifecycle()
    lifecycle.serving = True
    found = Health(lifecycle, failing if store is failing else passing)

    async def handle(request: Request) -> Response:
        return await found.handle(request)

    return found, lifecycle, Client(handle)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping", "/livez/etcd", "/readyz/shutdown"])
async def test_all_is_well(path: str) -> None:
    _, _, client = health()
    response = await client.get(path)
    assert (response.status, response.body) == (200, b"ok")


async def test_verbose_lists_the_checks() -> None:
    _, _, client = health()
    response = await client.get("/livez?verbose")
    assert response.body == b"".join(
        b"[+]%b ok\n" % name
        for name in (b"ping", b"log", b"loopback-serving-certificate", b"etcd", b"autoregister-completion")
    ) + (b"livez check passed\n")


async def test_checks_that_are_added_come_before_those_of_the_servers_own_state() -> None:
    found, _, client = health()
    found.add("kms-providers", passing, endpoints=("healthz", "readyz"))
    lines = (await client.get("/readyz?verbose")).body.decode().splitlines()[:-1]
    assert [line.removeprefix("[+]").removesuffix(" ok") for line in lines] == [
        "ping",
        "log",
        "etcd",
        "etcd-readiness",
        "storage-space",
        "storage-integrity",
        "kms-providers",
        "informer-sync",
        "autoregister-completion",
        "shutdown",
    ]


async def test_a_failure_lists_the_checks_and_withholds_the_reason() -> None:
    _, _, client = health(failing)
    response = await client.get("/livez")
    assert response.status == 500
    lines = response.body.decode().splitlines()
    assert [line for line in lines if not line.startswith("[+]")] == [
        "[-]etcd failed: reason withheld",
        "livez check failed",
    ]


async def test_a_single_check_says_why_it_fails() -> None:
    _, _, client = health(failing)
    response = await client.get("/readyz/etcd")
    assert (response.status, response.body) == (500, b"internal server error: disk on fire\n")


async def test_checks_can_be_excluded() -> None:
    _, _, client = health(failing)
    response = await client.get("/livez?verbose&exclude=etcd&exclude=nothing")
    assert response.status == 200
    assert b"[+]etcd excluded: ok\n" in response.body
    assert b'warn: some health checks cannot be excluded: no matches for "nothing"\n' in response.body


async def test_an_unknown_check_is_not_found() -> None:
    _, _, client = health()
    assert (await client.get("/readyz/nothing")).status == 404


async def test_a_server_that_stops_is_alive_but_not_ready() -> None:
    _, lifecycle, client = health()
    lifecycle.stop()
    assert (await client.get("/readyz")).status == 500
    assert (await client.get("/livez")).status == 200


async def test_a_server_that_loads_is_not_ready() -> None:
    _, lifecycle, client = health()
    lifecycle.serving = False
    assert b"[-]informer-sync failed" in (await client.get("/readyz")).body


async def test_a_store_that_hangs_fails_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.server.health.STORE_TIMEOUT_S", 0.01)

    async def hang() -> None:
        await asyncio.get_running_loop().create_future()

    found = Health(Lifecycle(), hang)
    response = await Client(found.handle).get("/livez")
    assert b"[-]etcd failed" in response.body


async def test_results_are_counted_for_slis() -> None:
    found, _, client = health(failing)
    await client.get("/livez")
    text = found.metrics.exposition()
    assert b'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1' in text
    assert b'kubernetes_healthcheck{name="ping",type="livez"} 1' in text
    assert b'kubernetes_healthcheck{name="etcd",type="livez"} 0' in text


async def test_slis_have_the_checks_of_readyz_before_anybody_asked() -> None:
    async with served() as api:
        text = (await api.get("/metrics/slis")).body
    assert b'kubernetes_healthcheck{name="informer-sync",type="readyz"} 1' in text
    assert b"process_start_time_seconds " in text


async def test_slis_are_reset_by_delete() -> None:
    async with served() as api:
        assert (await api.delete("/metrics/slis")).body == b"metrics reset\n"
        assert b"kubernetes_healthcheck{" not in (await api.get("/metrics/slis")).body


async def test_a_server_whose_writes_do_not_end_is_alive_and_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.server.health.STORE_TIMEOUT_S", 0.01)
    lifecycle = Lifecycle()
    lifecycle.serving = True
    client = Client(Health(lifecycle, passing, asyncio.Event().wait).handle)
    assert [(await client.get(path)).status for path in ("/healthz", "/livez", "/readyz")] == [200, 200, 500]
    assert b"[-]etcd-readiness failed" in (await client.get("/readyz")).body
