"""/metrics of what belongs to a cluster: rules in CEL, webhooks, addresses of Services."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sampan.server.post_start_hooks.allocation_repair import AllocationRepair
from sampan.storage.memory import MemoryStore
from sampan.storage.store import StoreUnavailable
from tests.registry.webhook.tls import bundle, listening, ok, requests
from tests.server.cluster import Api, served
from tests.server.conversion_webhook import SHIRTS_2, FakeWebhook, defined
from tests.server.custom_resources import CRDS, GROUP, SHIRTS, crd, schema, shirt, version
from tests.server.verbs.conftest import api

__all__ = ["api"]

SERVICES = "/api/v1/namespaces/default/services"
RULED = {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 10"}]}


async def series(api: Api, *beginnings: str) -> list[str]:
    """Those lines that begin so."""
    text = (await api.client.get("/metrics")).body.decode()
    return [line for line in text.splitlines() if line.startswith(beginnings)]


def count_of(line: str, name: str) -> float:
    """Return the value of a series. It may grow during a test: loops of the server try failed conversions again."""
    assert line.startswith(f"{name} "), line
    return float(line.removeprefix(name))


async def test_rules_of_crds_are_timed_when_they_are_compiled_and_for_each_object_that_they_are_called_of(
    api: Api,
) -> None:
    names = ("apiserver_cel_compilation_duration_seconds_count", "apiserver_cel_evaluation_duration_seconds_count")
    assert await series(api, *names) == []
    await api.create(CRDS, crd(version("v1", schema({"size": RULED}))))
    for size in (1, 2, 100):
        await api.post(SHIRTS, shirt(f"a{size}", {"size": size}))
    assert await series(api, *names) == [f"{names[0]} 1.0", f"{names[1]} 3.0"]


@pytest.mark.parametrize(
    ("spoil", "failure"),
    [
        ({"down": "away"}, "conversion_webhook_call_failure"),
        ({"spoil": lambda review: review["response"].update(uid="x")}, "conversion_webhook_malformed_response_failure"),
        (
            {"spoil": lambda review: review["response"].update(convertedObjects=[])},
            "conversion_webhook_partial_response_failure",
        ),
        (
            {"spoil": lambda review: review["response"]["convertedObjects"][0]["metadata"].update(name="x")},
            "conversion_webhook_invalid_converted_object_failure",
        ),
    ],
    ids=["no answer", "another's answer", "too few objects", "other object"],
)
async def test_conversions_by_webhook_are_counted_with_how_they_fail(
    api: Api, spoil: dict[str, Any], failure: str
) -> None:
    webhook = FakeWebhook()
    api.connections.connect = webhook.connect
    await api.create(CRDS, defined())
    await api.create(SHIRTS, shirt("a", {"hostPort": "a:80"}))
    assert (await api.get(f"{SHIRTS_2}/a")).code == 200
    for name, value in spoil.items():
        setattr(webhook, name, value)
    await api.create(SHIRTS, shirt("b", {"hostPort": "a:80"}))
    assert (await api.get(f"{SHIRTS_2}/b")).code == 500
    total = "apiserver_conversion_webhook_request_total"
    succeeded, failed = await series(api, total)
    assert succeeded == f'{total}{{failure_type="",result="success"}} 1.0'
    assert count_of(failed, f'{total}{{failure_type="{failure}",result="failure"}}') >= 1
    by_crd = "apiserver_crd_conversion_webhook_duration_seconds_count"
    versions = f'crd_name="shirts.{GROUP}",from_version="v1"'
    succeeded, failed = await series(api, by_crd)
    assert succeeded == f'{by_crd}{{{versions},succeeded="true",to_version="v2"}} 1.0'
    assert count_of(failed, f'{by_crd}{{{versions},succeeded="false",to_version="v2"}}') >= 1


async def responding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A webhook that allows everything."""
    async for _, body in requests(reader):
        uid = json.loads(body)["request"]["uid"]
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        writer.write(ok(json.dumps(review | {"response": {"uid": uid, "allowed": True}}).encode()))


def hook(name: str, port: int) -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["services"]}
    return {
        "name": f"{name}.example.com",
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "rules": [rule],
        "clientConfig": {"url": f"https://127.0.0.1:{port}/", "caBundle": bundle()},
    }


async def test_requests_to_webhooks_are_counted_by_host_and_code_including_failed_ones(
    api: Api, tmp_path: Path
) -> None:
    async with listening(tmp_path, responding) as port:
        path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        await api.create(path, {"metadata": {"name": "a"}, "webhooks": [hook("a", port), hook("b", 1)]})
        await api.create(SERVICES, {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}})
    name = "rest_client_requests_total"
    assert sorted(await series(api, name)) == [
        f'{name}{{code="200",host="127.0.0.1:{port}",method="POST"}} 1.0',
        f'{name}{{code="<error>",host="127.0.0.1:1",method="POST"}} 1.0',
    ]
    for name in ("rest_client_request_size_bytes_count", "rest_client_response_size_bytes_count"):
        assert await series(api, name) == [f'{name}{{host="127.0.0.1:{port}",verb="POST"}} 1.0']


async def test_addresses_and_ports_of_services_are_counted_as_they_are_given() -> None:
    async with served(MemoryStore()) as api:
        ports = [{"port": 80, "nodePort": 30007}]
        await api.create(SERVICES, {"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": ports}})
        await api.post(SERVICES, {"metadata": {"name": "b"}, "spec": {"type": "NodePort", "ports": ports}})
        await api.post(f"{SERVICES}?dryRun=All", {"metadata": {"name": "c"}, "spec": {"ports": [{"port": 80}]}})
        found = await series(api, "kube_apiserver_nodeport_allocator", "kube_apiserver_clusterip_allocator_all")
    assert {line.removeprefix("kube_apiserver_") for line in found} >= {
        "nodeport_allocator_allocated_ports 1.0",
        "nodeport_allocator_available_ports 2767.0",
        'nodeport_allocator_allocation_total{scope="static"} 1.0',
        'nodeport_allocator_allocation_errors_total{scope="static"} 1.0',
        'clusterip_allocator_allocated_ips{cidr="10.96.0.0/16"} 2.0',
        'clusterip_allocator_allocation_total{cidr="10.96.0.0/16",scope="static"} 1.0',
    }


async def test_the_time_to_claim_a_cluster_ip_is_measured() -> None:
    count = 'kube_apiserver_clusterip_allocator_allocation_duration_seconds_count{cidr="10.96.0.0/16"} '
    async with served() as api:
        before = await series(api, count)
        await api.create(SERVICES, {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}})
        after = await series(api, count)
    claimed = [sum(float(line.removeprefix(count)) for line in lines) for lines in (before, after)]
    assert claimed[1] - claimed[0] == 1


async def test_the_loops_of_the_server_report_how_they_get_on(api: Api) -> None:
    before = await series(api, 'workqueue_adds_total{name="crd_controller"}')
    await api.create(CRDS, crd(version("v1", schema({}))))
    name = '{name="crd_controller"}'
    adds, done, depth, unfinished = (
        f"workqueue_{each}{name}"
        for each in ("adds_total", "work_duration_seconds_count", "depth", "unfinished_work_seconds")
    )
    async with asyncio.timeout(60):  # the controller may take up the CRD again
        while True:
            found = dict(line.rsplit(" ", 1) for line in await series(api, adds, done, depth, unfinished))
            if (found[depth], found[unfinished]) == ("0.0", "0.0"):
                break
            await asyncio.sleep(0.01)
    assert [f"{adds} {found[adds]}"] > before
    assert found[done] == found[adds]


async def test_passes_over_the_claims_of_services_that_come_to_nothing_are_counted(api: Api) -> None:
    async def away() -> None:
        raise StoreUnavailable("no")

    async def soon(seconds: float) -> None:
        if api.cluster.measures.repair_errors == 2:
            raise asyncio.CancelledError

    services = api.cluster.endpoint("", "v1", "services")
    assert services is not None
    measures = api.cluster.measures
    repair = AllocationRepair(api.cluster.claims, services.store, api.cluster.clock, measures.repair_failed)
    repair.once = away  # type: ignore[method-assign]  # a store that is away
    with pytest.raises(asyncio.CancelledError):
        await repair.run(soon)
    assert await series(api, "apiserver_clusterip_repair", "apiserver_nodeport_repair") == [
        f"apiserver_{what}_repair_reconcile_errors_total 2.0" for what in ("clusterip", "nodeport")
    ]
