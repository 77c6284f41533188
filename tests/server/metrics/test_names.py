"""The names and labels that dashboards for Kubernetes look for."""

import pytest

from sampan.server.instruments.histogram import Counter, cumulative
from tests.server.cluster import Api, served
from tests.server.frame import JANE

TARGET = "/api/v1/namespaces/default/configmaps"
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
NAMES = (
    "apiserver_request_total",
    "apiserver_request_duration_seconds_bucket",
    "apiserver_current_inflight_requests",
    "apiserver_longrunning_requests",
    "apiserver_storage_objects",
    "apiserver_storage_size_bytes",
    "apiserver_admission_step_admission_duration_seconds_bucket",
    "apiserver_flowcontrol_current_executing_seats",
    "apiserver_audit_event_total",
    "etcd_request_duration_seconds_bucket",
    "kubernetes_build_info",
    "apiserver_watch_cache_resource_version",
    "apiserver_watch_cache_events_received_total",
    "apiserver_admission_step_admission_duration_seconds_summary_count",
    "etcd_requests_total",
)


async def metrics_of(api: Api) -> str:
    return (await api.client.get("/metrics")).body.decode()


@pytest.fixture
async def text() -> str:
    async with served() as api:
        await api.create(TARGET, CONFIG_MAP)
        async with api.watch(f"{TARGET}?watch=1"):
            await api.post(TARGET, CONFIG_MAP)
            await api.get("/api/v1/namespaces/default/endpoints")
            await api.get("/api/v1/namespaces/default/podtemplates")
            await Api(api.server, JANE).get(TARGET)
            await Api(api.server, {"authorization": "Bearer wrong"}).get(TARGET)
            return await metrics_of(api)


@pytest.mark.parametrize("name", NAMES)
async def test_metrics_of_dashboards_exist(text: str, name: str) -> None:
    assert any(line.startswith((f"{name}{{", f"{name} ")) for line in text.splitlines())


@pytest.mark.parametrize(
    "series",
    [
        'authentication_attempts{result="error"} 1.0',
        'authentication_duration_seconds_count{result="error"} 1.0',
        'authenticated_user_requests{username="admin"} 6.0',
        'authenticated_user_requests{username="other"} 1.0',
        "# TYPE authentication_attempts counter",
        'authorization_attempts_total{result="no-opinion"} 1.0',
        'apiserver_request_filter_duration_seconds_count{filter="authentication"} 8.0',
        'apiserver_admission_controller_admission_duration_seconds_count{name="NamespaceLifecycle",operation="CREATE",'
        'rejected="false",type="admit"} 2.0',
        'apiserver_storage_events_received_total{group="",resource="configmaps"} 1.0',
        'apiserver_cache_list_total{group="",index="",resource="podtemplates"} 1.0',
        'authorization_duration_seconds_count{result="no-opinion"} 1.0',
        'apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",'
        'subresource="",version="v1"} 1.0',
    ],
)
async def test_authentications_are_counted_by_result(text: str, series: str) -> None:
    assert series in text.splitlines()


async def test_refused_writes_are_in_the_steps_of_admission() -> None:
    async with served() as api:
        await api.post("/api/v1/namespaces/none/configmaps", CONFIG_MAP)
        text = await metrics_of(api)
    name = "apiserver_admission_step_admission_duration_seconds_count"
    assert f'{name}{{operation="CREATE",rejected="true",type="admit"}} 1.0' in text
    name = "apiserver_admission_controller_admission_duration_seconds_count"
    labels = 'name="NamespaceLifecycle",operation="CREATE",rejected="true",type="admit"'
    assert f"{name}{{{labels}}} 1.0" in text


@pytest.mark.parametrize(("name", "kind"), [("a_total", "counter"), ("a_count", "unknown")])
def test_counters_keep_their_names(name: str, kind: str) -> None:
    counter = Counter(name, "Some.", ("x",))
    counter.add(("1",), 2)
    (family,) = counter.collect()
    assert family.type == kind
    assert [(sample.name, sample.labels, sample.value) for sample in family.samples] == [(name, {"x": "1"}, 2)]


def test_bounds_have_as_many_digits_as_they_need() -> None:
    bounds = (0.00001, 0.25, 1.0, 10.48576, 150_000, 1e6)
    names = [name for name, _ in cumulative(bounds, [0.0] * 7)]
    assert names == ["1e-05", "0.25", "1", "10.48576", "150000", "1e+06", "+Inf"]
