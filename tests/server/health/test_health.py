"""Health endpoints and their checks."""

import asyncio

import pytest

from sampan.server.health.health import Health
from sampan.server.health.lifecycle import LifecycleSignals
from sampan.server.request import Request, Response
from tests.server.client import Client
from tests.server.cluster import served


async def passing() -> None:
    return None


async def failing() -> None:
    raise OSError("disk on fire")


def health(store: object = passing) -> tuple[Health, LifecycleSignals, Client]:
    lifecycle = LifecycleSignals()
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


HOOKS_1_36 = """\
start-apiserver-admission-initializer generic-apiserver-start-informers priority-and-fairness-config-consumer
priority-and-fairness-filter storage-object-count-tracker-hook start-apiextensions-informers
start-apiextensions-controllers crd-informer-synced start-system-namespaces-controller
peer-endpoint-reconciler-controller start-cluster-authentication-info-controller
start-kube-apiserver-identity-lease-controller start-kube-apiserver-identity-lease-garbage-collector storage-readiness
start-legacy-token-tracking-controller start-service-ip-repair-controllers rbac/bootstrap-roles
scheduling/bootstrap-system-priority-classes priority-and-fairness-config-producer bootstrap-controller
start-kubernetes-service-cidr-controller aggregator-reload-proxy-client-cert start-kube-aggregator-informers
apiservice-status-local-available-controller apiservice-status-remote-available-controller
apiservice-registration-controller apiservice-discovery-controller kube-apiserver-autoregistration"""
STARTED = [
    *[f"poststarthook/{hook}" for hook in HOOKS_1_36.split()],
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
]


async def listed(client: Client, endpoint: str) -> list[str]:
    """The names of checks that pass, in order."""
    *lines, last = (await client.get(f"/{endpoint}?verbose")).body.decode().splitlines()
    assert last == f"{endpoint} check passed"
    assert all(line.startswith("[+]") and line.endswith(" ok") for line in lines)
    return [line.removeprefix("[+]").removesuffix(" ok") for line in lines]


@pytest.mark.parametrize("endpoint", ["healthz", "livez"])
async def test_verbose_lists_the_checks_in_kubernetes_order(endpoint: str) -> None:
    _, _, client = health()
    assert await listed(client, endpoint) == ["ping", "log", "loopback-serving-certificate", "etcd", *STARTED]


async def test_checks_that_are_added_come_before_those_of_the_servers_own_state() -> None:
    found, _, client = health()
    found.add("kms-providers", passing, endpoints=("healthz", "readyz"))
    store = ["ping", "log", "etcd", "etcd-readiness", "storage-space", "storage-integrity"]
    assert await listed(client, "readyz") == [*store, "kms-providers", "informer-sync", *STARTED, "shutdown"]


@pytest.mark.parametrize("name", STARTED)
async def test_each_post_start_hook_can_be_called_alone_and_excluded(name: str) -> None:
    _, lifecycle, client = health()
    assert (await client.get(f"/healthz/{name}")).body == b"ok"
    lifecycle.serving = False
    alone = await client.get(f"/healthz/{name}")
    assert (alone.status, alone.body) == (500, b"internal server error: not finished\n")
    assert f"[+]{name} excluded: ok\n".encode() in (await client.get(f"/readyz?verbose&exclude={name}")).body


async def test_a_failure_lists_the_checks_and_withholds_the_reason() -> None:
    _, _, client = health(failing)
    response = await client.get("/livez")
    assert response.status == 500
    lines = response.body.decode().splitlines()
    assert [line for line in lines if not line.startswith("[+]")] == [
        "[-]etcd failed: reason withheld",
        "livez check failed",
    ]


async def test_a_single_check_reports_why_it_fails() -> None:
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
    monkeypatch.setattr("sampan.server.health.health.STORE_TIMEOUT_S", 0.01)

    async def hang() -> None:
        await asyncio.get_running_loop().create_future()

    found = Health(LifecycleSignals(), hang)
    response = await Client(found.handle).get("/livez")
    assert b"[-]etcd failed" in response.body


async def test_results_are_counted_for_slis() -> None:
    found, _, client = health(failing)
    await client.get("/livez")
    text = found.metrics.exposition()
    assert b'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1' in text
    assert b'kubernetes_healthcheck{name="ping",type="livez"} 1' in text
    assert b'kubernetes_healthcheck{name="etcd",type="livez"} 0' in text


async def test_slis_have_the_checks_of_readyz_before_anybody_called() -> None:
    async with served() as api:
        text = (await api.get("/metrics/slis")).body
    assert b'kubernetes_healthcheck{name="informer-sync",type="readyz"} 1' in text
    assert b"process_start_time_seconds " in text


async def test_slis_are_reset_by_delete() -> None:
    async with served() as api:
        assert (await api.delete("/metrics/slis")).body == b"metrics reset\n"
        assert b"kubernetes_healthcheck{" not in (await api.get("/metrics/slis")).body


async def test_a_server_whose_writes_do_not_end_is_alive_and_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.server.health.health.STORE_TIMEOUT_S", 0.01)
    lifecycle = LifecycleSignals()
    lifecycle.serving = True
    client = Client(Health(lifecycle, passing, asyncio.Event().wait).handle)
    assert [(await client.get(path)).status for path in ("/healthz", "/livez", "/readyz")] == [200, 200, 500]
    assert b"[-]etcd-readiness failed" in (await client.get("/readyz")).body
