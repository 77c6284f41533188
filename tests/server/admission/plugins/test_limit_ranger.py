"""LimitRanger."""

from typing import Any

import pytest

from tests.server.admission.objects import PODS, pod, refused, with_resources
from tests.server.cluster import Api

_RANGES = "/api/v1/namespaces/default/limitranges"
_CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


async def _limit(api: Api, **limit: Any) -> None:
    await api.create(_RANGES, {"metadata": {"name": "limits"}, "spec": {"limits": [limit]}})


async def test_containers_get_the_defaults_that_they_do_not_state(api: Api) -> None:
    await _limit(api, type="Container", default={"cpu": "2", "memory": "1Gi"}, defaultRequest={"cpu": "100m"})
    made = await api.create(PODS, pod(containers=[with_resources({"cpu": "1"}), with_resources(name="d")]))
    assert [each["resources"] for each in made["spec"]["containers"]] == [
        {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}},
        {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}},
    ]
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: memory request for container c; cpu, memory limit for container c; "
        "cpu, memory request for container d; cpu, memory limit for container d"
    )


_WRONG = [
    (
        "min without a request",
        {"type": "Container", "min": {"cpu": "1"}, "default": {}, "defaultRequest": {}},
        with_resources({"cpu": "500m"}),
        "minimum cpu usage per Container is 1, but request is 500m",
    ),
    (
        "max without a limit",
        {"type": "Pod", "max": {"memory": "1Gi"}},
        with_resources({"memory": "1Gi"}),
        "maximum memory usage per Pod is 1Gi.  No limit is specified",
    ),
    (
        "max",
        {"type": "Container", "max": {"cpu": "1"}},
        with_resources({"cpu": "1"}, {"cpu": "1100m"}),
        "maximum cpu usage per Container is 1, but limit is 1100m",
    ),
    (
        "min of pods",
        {"type": "Pod", "min": {"cpu": "1"}},
        with_resources(),
        "minimum cpu usage per Pod is 1.  No request is specified",
    ),
    (
        "ratio",
        {"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}},
        with_resources({"cpu": "100m"}, {"cpu": "300m"}),
        "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
    ),
    (
        "ratio without a request",
        {"type": "Pod", "maxLimitRequestRatio": {"memory": "2"}},
        with_resources(),
        "memory max limit to request ratio per Pod is 2, but no request is specified or request is 0",
    ),
]


@pytest.mark.parametrize(("limit", "container", "text"), [row[1:] for row in _WRONG], ids=[row[0] for row in _WRONG])
async def test_a_pod_out_of_bounds_is_refused(api: Api, limit: Any, container: Any, text: str) -> None:
    await _limit(api, **limit)
    assert await refused(api, PODS, pod(containers=[container])) == f'pods "p" is forbidden: {text}'


async def test_all_that_is_wrong_is_reported_at_once(api: Api) -> None:
    await _limit(api, type="Pod", max={"cpu": "1"}, min={"memory": "1Gi"})
    containers = [with_resources({"memory": "1Mi"}, {"cpu": "2", "memory": "1Mi"})]
    assert await refused(api, PODS, pod(containers=containers)) == (
        'pods "p" is forbidden: [minimum memory usage per Pod is 1Gi, but request is 1Mi, '
        "maximum cpu usage per Pod is 1, but limit is 2]"
    )


@pytest.mark.parametrize(
    ("storage", "text"),
    [
        ("1Gi", "minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi"),
        ("5Gi", "maximum storage usage per PersistentVolumeClaim is 4Gi, but request is 5Gi"),
    ],
)
async def test_a_claim_out_of_bounds_is_refused(api: Api, storage: str, text: str) -> None:
    await _limit(api, type="PersistentVolumeClaim", min={"storage": "2Gi"}, max={"storage": "4Gi"})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    message = await refused(api, _CLAIMS, {"metadata": {"name": "c"}, "spec": spec})
    assert message == f'persistentvolumeclaims "c" is forbidden: {text}'


async def test_a_limit_range_counts_in_its_namespace_only(api: Api) -> None:
    await _limit(api, type="Pod", min={"cpu": "1"})
    await api.create("/api/v1/namespaces/kube-public/pods", pod())


async def test_an_update_of_a_pod_is_not_looked_at(api: Api) -> None:
    await api.create(PODS, pod())
    await _limit(api, type="Container", default={"cpu": "1"}, min={"cpu": "1"})
    response = await api.patch(f"{PODS}/p", {"metadata": {"labels": {"a": "b"}}})
    assert response.code == 200
