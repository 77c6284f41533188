"""ResourceQuota."""

import asyncio
from typing import Any

import pytest

from sampan.server.admission.settings import AdmissionSettings
from tests.server.admission.objects import PODS, pod, refused, with_resources
from tests.server.cluster import Api, served

_QUOTAS = "/api/v1/namespaces/default/resourcequotas"
_NS = "/api/v1/namespaces/default"


async def _quota(api: Api, hard: dict[str, str], name: str = "q", used: Any = None, **spec: Any) -> None:
    """A quota with the used amounts already in its status, as its controller writes them."""
    quota = await api.create(_QUOTAS, {"metadata": {"name": name}, "spec": {"hard": hard, **spec}})
    quota["status"] = {"hard": hard, "used": used or dict.fromkeys(hard, "0")}
    response = await api.put(f"{_QUOTAS}/{name}/status", quota)
    assert response.code == 200, response.body


async def _used(api: Api, name: str = "q") -> Any:
    return (await api.get(f"{_QUOTAS}/{name}")).body["status"]["used"]


async def test_used_amounts_are_written_to_the_status(api: Api) -> None:
    await _quota(api, {"pods": "2", "requests.cpu": "1", "count/configmaps": "5"})
    await api.create(PODS, pod(containers=[with_resources({"cpu": "300m"}), with_resources({"cpu": "200m"}, name="d")]))
    assert await _used(api) == {"pods": "1", "requests.cpu": "500m", "count/configmaps": "0"}


async def test_more_than_there_is_is_refused(api: Api) -> None:
    await _quota(api, {"pods": "2"}, used={"pods": "2"})
    assert await refused(api, PODS, pod()) == (
        'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
    )


async def test_only_what_is_exceeded_is_reported(api: Api) -> None:
    await _quota(api, {"pods": "2", "requests.cpu": "1", "limits.cpu": "1"})
    message = await refused(api, PODS, pod(containers=[with_resources({"cpu": "2"}, {"cpu": "3"})]))
    assert message == (
        'pods "p" is forbidden: exceeded quota: q, requested: limits.cpu=3,requests.cpu=2, '
        "used: limits.cpu=0,requests.cpu=0, limited: limits.cpu=1,requests.cpu=1"
    )


async def test_containers_must_report_what_is_counted(api: Api) -> None:
    await _quota(api, {"limits.memory": "1Gi", "requests.cpu": "1"})
    containers = [with_resources({"cpu": "1"}), with_resources(name="d")]
    assert await refused(api, PODS, pod(containers=containers)) == (
        'pods "p" is forbidden: failed quota: q: must specify limits.memory for: c,d; requests.cpu for: d'
    )


async def test_a_quota_whose_use_is_not_known_lets_nothing_in(api: Api) -> None:
    await _quota(api, {"pods": "2", "cpu": "1"}, used={"pods": "0"})
    message = await refused(api, PODS, pod(containers=[with_resources({"cpu": "1"})]))
    assert message == 'pods "p" is forbidden: status unknown for quota: q, resources: cpu,pods'


_OBJECTS = [
    ("configmaps", {"configmaps": "0"}, "/api/v1", {}, "configmaps=1"),
    ("secrets", {"count/secrets": "0"}, "/api/v1", {}, "count/secrets=1"),
    (
        "deployments",
        {"count/deployments.apps": "0"},
        "/apis/apps/v1",
        {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, **pod()}},
        "count/deployments.apps=1",
    ),
    (
        "services",
        {"services.nodeports": "1"},
        "/api/v1",
        {"type": "NodePort", "ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]},
        "services.nodeports=2",
    ),
    (
        "services",
        {"services.loadbalancers": "0"},
        "/api/v1",
        {"type": "LoadBalancer", "ports": [{"port": 1}]},
        "services.loadbalancers=1",
    ),
    (
        "persistentvolumeclaims",
        {"gold.storageclass.storage.k8s.io/requests.storage": "1Gi"},
        "/api/v1",
        {
            "storageClassName": "gold",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "2Gi"}},
        },
        "gold.storageclass.storage.k8s.io/requests.storage=2Gi",
    ),
]


@pytest.mark.parametrize(
    ("resource", "hard", "base", "spec", "requested"), _OBJECTS, ids=[next(iter(row[1])) for row in _OBJECTS]
)
async def test_objects_of_all_kinds_are_counted(
    api: Api, resource: str, hard: dict[str, str], base: str, spec: dict[str, Any], requested: str
) -> None:
    await _quota(api, hard)
    if "template" in spec:
        spec = {**spec, "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec["template"]["spec"]}}
    obj = {"metadata": {"name": "x"}, **({"spec": spec} if spec else {})}
    message = await refused(api, f"{base}/namespaces/default/{resource}", obj)
    assert f"exceeded quota: q, requested: {requested}, used: " in message


async def test_an_update_charges_the_difference(api: Api) -> None:
    await _quota(api, {"services.nodeports": "2", "services": "5"})
    service = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"name": "a", "port": 1}]}}
    await api.create(f"{_NS}/services", service)
    ports = [{"name": "a", "port": 1}, {"name": "b", "port": 2}]
    assert (await api.patch(f"{_NS}/services/s", {"spec": {"ports": ports}})).code == 200
    assert await _used(api) == {"services": "1", "services.nodeports": "2"}
    ports.append({"name": "c", "port": 3})
    response = await api.patch(f"{_NS}/services/s", {"spec": {"ports": ports}})
    assert response.message == (
        'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=2, '
        "limited: services.nodeports=2"
    )


@pytest.mark.parametrize(
    ("spec", "concerned"),
    [
        ({"scopes": ["BestEffort"]}, True),
        ({"scopes": ["NotBestEffort"]}, False),
        ({"scopes": ["Terminating"]}, False),
        ({"scopes": ["NotTerminating"]}, True),
        (
            {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "Exists"}]}},
            False,
        ),
    ],
    ids=["best effort", "not best effort", "terminating", "not terminating", "priority class"],
)
async def test_a_quota_counts_what_is_in_its_scopes(api: Api, spec: dict[str, Any], *, concerned: bool) -> None:
    await _quota(api, {"pods": "0"}, **spec)
    assert (await api.post(PODS, pod())).code == (403 if concerned else 201)


async def test_a_dry_run_takes_nothing(api: Api) -> None:
    await _quota(api, {"pods": "1"})
    assert (await api.post(f"{PODS}?dryRun=All", pod())).code == 201
    assert await _used(api) == {"pods": "0"}


async def test_many_at_once_never_exceed_it(api: Api) -> None:
    await _quota(api, {"pods": "20"})
    responses = await asyncio.gather(*(api.post(PODS, pod(f"p-{number}")) for number in range(50)))
    assert sorted(response.code for response in responses) == [201] * 20 + [403] * 30
    assert await _used(api) == {"pods": "20"}


async def test_all_quotas_of_a_namespace_count(api: Api) -> None:
    await _quota(api, {"pods": "5"}, "one")
    await _quota(api, {"count/pods": "3"}, "two")
    responses = await asyncio.gather(*(api.post(PODS, pod(f"p-{number}")) for number in range(8)))
    assert sorted(response.code for response in responses) == [201] * 3 + [403] * 5
    assert (await _used(api, "one"), await _used(api, "two")) == ({"pods": "3"}, {"count/pods": "3"})


async def test_a_writer_that_comes_between_is_not_overwritten(api: Api) -> None:
    """The controller and users write quotas too: their changes stay."""
    await _quota(api, {"pods": "100"})

    async def label(number: int) -> None:
        response = await api.patch(f"{_QUOTAS}/q", {"metadata": {"labels": {f"l{number}": "x"}}})
        assert response.code == 200

    await asyncio.gather(*(api.post(PODS, pod(f"p-{n}")) for n in range(10)), *(label(n) for n in range(10)))
    assert await _used(api) == {"pods": "10"}
    assert len((await api.get(f"{_QUOTAS}/q")).metadata["labels"]) == 10


async def test_a_cancelled_request_does_not_block_the_rest(api: Api) -> None:
    await _quota(api, {"pods": "10"})
    tasks = [asyncio.create_task(api.post(PODS, pod(f"p-{number}"))) for number in range(5)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    responses = await asyncio.gather(*tasks[1:])
    assert [response.code for response in responses] == [201] * 4


async def test_limited_resources_need_a_quota() -> None:
    configuration = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "ResourceQuotaConfiguration",
        "limitedResources": [{"resource": "pods", "matchContains": ["pods"]}],
    }
    async with served(admission=AdmissionSettings(configurations={"ResourceQuota": configuration})) as api:
        text = 'pods "p" is forbidden: insufficient quota to consume: count/pods,pods'
        assert await refused(api, PODS, pod()) == text
        await _quota(api, {"pods": "1", "count/pods": "1"})
        await api.create(PODS, pod())


@pytest.mark.parametrize("how", ["put", "merge", "apply", "strategic"])
async def test_a_service_that_becomes_one_with_node_ports_is_counted(api: Api, how: str) -> None:
    await _quota(api, {"services.nodeports": "1"})
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    made = await api.create(f"{_NS}/services", {"metadata": {"name": "s"}, "spec": {"ports": ports}})
    change: Any = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": {"type": "NodePort"}}
    path = f"{_NS}/services/s"
    if how == "put":
        made["spec"]["type"] = "NodePort"
        response = await api.put(path, made)
    else:
        response = await api.patch(path + "?fieldManager=t&force=true" * (how == "apply"), change, how)
    assert response.code == 403
    assert "exceeded quota: q, requested: services.nodeports=2" in response.message


@pytest.mark.parametrize("how", ["put", "apply"])
async def test_an_update_that_creates_is_counted(api: Api, how: str) -> None:
    await _quota(api, {"services": "0"})
    body = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
    path = f"{_NS}/services/s"
    response = await (api.put(path, body) if how == "put" else api.apply(path, body))
    assert response.code == 403
    assert "exceeded quota: q, requested: services=1" in response.message
