"""/metrics of a server that has worked, under the names of Kubernetes."""

import datetime as dt

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sampan.server.metrics.certificates import CertificateMetrics
from sampan.server.metrics.server import ServerMetrics
from sampan.server.request import MetricLabels, RequestInfo
from tests.server.cluster import Api, served
from tests.server.requests import make_request

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


async def metrics(api: Api) -> dict[str, float]:
    """Every series with its value."""
    text = (await api.get("/metrics")).body.decode()
    pairs = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


async def test_the_stores_operations_are_timed_by_resource() -> None:
    async with served() as api:
        await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
        await api.patch(f"{CONFIG_MAPS}/a", {"data": {"a": "b"}})
        await api.patch(f"{CONFIG_MAPS}/a", {"data": {"a": "c"}})
        await api.delete(f"{CONFIG_MAPS}/a")
        found = await metrics(api)
    count = 'etcd_request_duration_seconds_count{group="",operation="%s",resource="configmaps"}'
    assert [found[count % operation] for operation in ("create", "update", "delete")] == [1, 2, 1]


async def test_objects_are_counted_by_resource() -> None:
    async with served() as api:
        for name in ("a", "b"):
            await api.create(CONFIG_MAPS, {"metadata": {"name": name}})
        found = await metrics(api)
    assert found['apiserver_storage_objects{resource="configmaps"}'] == 2
    assert found['apiserver_resource_objects{group="",resource="configmaps"}'] == 2
    assert found['apiserver_resource_objects{group="apps",resource="deployments"}'] == 0


async def test_sizes_of_responses_to_reads_are_measured() -> None:
    async with served() as api:
        await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "x" * 2000}})
        await api.get(f"{CONFIG_MAPS}/a")
        found = await metrics(api)
    labels = 'group="",%sresource="configmaps",scope="%s",subresource="",verb="%s",version="v1"'
    read = labels % ("%s", "resource", "GET")
    buckets = [
        found[f'apiserver_response_sizes_bucket{{component="apiserver",{read % each}}}']
        for each in ('le="1000",', 'le="10000",')
    ]
    assert buckets == [0, 1]
    assert not [name for name in found if name.startswith("apiserver_response_sizes") and 'verb="POST"' in name]


def sli(found: dict[str, float], part: str) -> float:
    """A series of the SLI of GET /readyz."""
    start = f"apiserver_request_sli_duration_seconds_{part}"
    return next(found[name] for name in found if name.startswith(start) and '"/readyz"' in name)


async def test_the_sli_leaves_out_the_time_of_webhooks() -> None:
    server_metrics = ServerMetrics()
    info, counted = RequestInfo("/readyz", "get"), MetricLabels("/readyz", component="")
    request = make_request("GET", "/readyz", "", {}, read_body=_no_body, info=info)
    request.counted = counted
    request.latencies = {"mutating-webhook": 2.0, "authorization": 0.5}
    server_metrics.record(request, 200, 3.0)
    text = (await server_metrics.exposition()).decode()
    pairs = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    found = {name: float(value) for name, _, value in pairs}
    assert (sli(found, "sum"), sli(found, "count")) == (1.0, 1.0)
    bucket = {name: value for name, value in found.items() if "sli_duration_seconds_bucket" in name}
    assert next(value for name, value in bucket.items() if 'le="1"' in name) == 1
    assert not [name for name in bucket if 'le="0.005"' in name]


async def _no_body(limit: int) -> bytes:
    return b""


async def test_the_remaining_lifetime_of_client_certificates_is_measured() -> None:
    now = dt.datetime.now(dt.UTC)
    ends = now + dt.timedelta(days=3)
    der = _certificate(ends)
    shown = CertificateMetrics(now.timestamp)
    shown.shown(der)
    shown.shown(der)
    (family,) = shown.collect()
    counts = {sample.labels["le"]: sample.value for sample in family.samples if "le" in sample.labels}
    assert (counts["172800"], counts["345600"], counts["+Inf"]) == (0, 2, 2)


def _certificate(ends: dt.datetime) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    signed = builder.not_valid_before(ends - dt.timedelta(days=9)).not_valid_after(ends).sign(key, hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.DER)


async def test_events_are_counted_for_each_watcher() -> None:
    async with served() as api:
        await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
        async with api.watch(f"{CONFIG_MAPS}?watch=1") as first, api.watch(f"{CONFIG_MAPS}?watch=1") as second:
            await api.create(CONFIG_MAPS, {"metadata": {"name": "b"}})
            assert await first.events(2) == await second.events(2) == [("ADDED", "a"), ("ADDED", "b")]
            found = await metrics(api)
    assert found['apiserver_watch_events_total{group="",resource="configmaps",version="v1"}'] == 4


async def test_requests_are_timed_by_what_they_want_of_unknown_fields() -> None:
    async with served() as api:
        await api.create(f"{CONFIG_MAPS}?fieldValidation=Strict", {"metadata": {"name": "a"}})
        await api.post(f"{CONFIG_MAPS}?fieldValidation=Never", {"metadata": {"name": "b"}})
        await api.get(f"{CONFIG_MAPS}/a")
        found = await metrics(api)
    name = "field_validation_request_duration_seconds_count"
    all_requests = sum(value for series, value in found.items() if series.startswith("apiserver_request_total"))
    assert found[f'{name}{{field_validation="Strict"}}'] == 1
    assert found[f'{name}{{field_validation="invalid"}}'] == 1
    assert found[f'{name}{{field_validation=""}}'] == all_requests - 2


async def test_open_streams_have_the_labels_of_kubernetes() -> None:
    async with served() as api, api.watch(f"{CONFIG_MAPS}?watch=1"):
        found = await metrics(api)
    labels = 'component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH"'
    assert found[f'apiserver_longrunning_requests{{{labels},version="v1"}}'] == 1
