"""Services: defaults, faults, and allocation of addresses and ports."""

import asyncio
import copy
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.registry.allocation.allocators import Allocation, Allocators, Holder
from sampan.registry.allocation.ip_allocator import RangeFull
from sampan.registry.allocation.services import allocate_create
from sampan.registry.strategy import Context, ObjectReader, Release
from tests.registry.kinds.core.objects import (
    CONTEXT,
    Mutation,
    created,
    faults,
    named,
    put,
    service,
    status_faults,
    strategy,
    update_faults,
)


class NoReader:
    """Reader that must not be called: Services never read other objects."""

    def get(self, group: str, resource: str, namespace: str, name: str) -> Object | None:
        raise AssertionError

    def list(self, group: str, resource: str, namespace: str = "") -> list[Object]:
        raise AssertionError


class NoClaims:
    """Claims of a single server, whose memory is sufficient."""

    async def refresh(self, *, ports: bool) -> None:
        pass

    async def make(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        pass

    async def drop(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        pass


READER: ObjectReader = NoReader()
Finish = Callable[[bool], None]


def allocators(*cidrs: str) -> Allocators:
    return Allocators(cidrs or ("10.96.0.0/16",), rand=random.Random(7))


def plain(**spec: Any) -> Object:
    """Return a Service that requests a cluster IP."""
    return named("Service", spec={"selector": {"app": "web"}, "ports": [{"port": 80}], **spec})


def finish(release: Release | None) -> Finish:
    assert release is not None
    retained = release

    async def run(success: bool) -> None:
        await retained(success)

    return lambda success: asyncio.run(run(success))


def begin(obj: Object, pool: Allocators, *, ctx: Context = CONTEXT) -> tuple[Object, Finish]:
    made = created("services", obj)
    release = asyncio.run(strategy("services").begin_create(ctx, made, READER, Allocation(pool, NoClaims())))
    return made, finish(release)


def make(obj: Object, pool: Allocators) -> Object:
    made, release = begin(obj, pool)
    assert strategy("services").validate(CONTEXT, made) == []
    release(True)
    return made


def change(old: Object, mutation: Mutation, pool: Allocators) -> Object:
    obj = copy.deepcopy(old)
    mutation(obj)
    strategy("services").default(obj)
    strategy("services").prepare_for_update(CONTEXT, obj, old)
    release = finish(
        asyncio.run(strategy("services").begin_update(CONTEXT, obj, old, READER, Allocation(pool, NoClaims())))
    )
    assert strategy("services").validate_update(CONTEXT, obj, old) == []
    release(True)
    return obj


def test_a_service_gets_its_defaults() -> None:
    obj = make(plain(clusterIP="10.96.0.10"), allocators())
    assert obj["spec"] == {
        "selector": {"app": "web"},
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
        "clusterIP": "10.96.0.10",
        "clusterIPs": ["10.96.0.10"],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "sessionAffinity": "None",
        "type": "ClusterIP",
    }
    assert obj["status"] == {"loadBalancer": {}}


def test_session_affinity_gets_a_timeout() -> None:
    spec = created("services", service(sessionAffinity="ClientIP"))["spec"]
    assert spec["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}


TABLE: list[tuple[str, Object, list[str]]] = [
    ("no ports", plain(ports=[]), ["spec.ports: Required value"]),
    (
        "port",
        plain(ports=[{"port": 0}]),
        [
            "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
            "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
        ],
    ),
    (
        "unnamed ports",
        plain(ports=[{"port": 80}, {"port": 81, "name": "b"}]),
        ["spec.ports[0].name: Required value"],
    ),
    (
        "port twice",
        plain(ports=[{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]),
        [
            'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,'
            '"TargetPort":0,"NodePort":0}'
        ],
    ),
    (
        "protocol",
        plain(ports=[{"port": 80, "protocol": "ICMP"}]),
        ['spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ),
    (
        "type",
        plain(type="Magic"),
        [
            'spec.type: Unsupported value: "Magic": supported values: '
            '"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'
        ],
    ),
    ("external name", plain(type="ExternalName", ports=[]), ["spec.externalName: Required value"]),
    (
        "affinity",
        plain(sessionAffinity="Cookie"),
        ['spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"'],
    ),
    (
        "node port of a cluster service",
        plain(ports=[{"port": 80, "nodePort": 30080}]),
        ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ),
    (
        "external policy",
        plain(externalTrafficPolicy="Local"),
        ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
    ),
    (
        "source ranges",
        plain(loadBalancerSourceRanges=["10.0.0.0/8"]),
        ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ),
    (
        "external address",
        plain(externalIPs=["127.0.0.1"]),
        ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ),
    (
        "distribution",
        plain(trafficDistribution="Far"),
        [
            'spec.trafficDistribution: Unsupported value: "Far": supported values: '
            '"PreferClose", "PreferSameZone", "PreferSameNode"'
        ],
    ),
    (
        "headless node port",
        plain(type="NodePort", clusterIP="None", clusterIPs=["None"]),
        ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"],
    ),
]


@pytest.mark.parametrize(("obj", "texts"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_faults_of_a_new_service_are_reported(obj: Object, texts: list[str]) -> None:
    assert faults("services", obj) == texts


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"clusterIP": "10.96.0.1"},
            'Service "thing" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.1"]: '
            "failed to allocate IP 10.96.0.1: provided IP is already allocated",
        ),
        (
            {"clusterIP": "192.168.0.1"},
            'Service "thing" is invalid: spec.clusterIPs: Invalid value: ["192.168.0.1"]: '
            "failed to allocate IP 192.168.0.1: the provided network does not match the current range",
        ),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30001}]},
            'Service "thing" is invalid: spec.ports[0].nodePort: Invalid value: 30001: '
            "provided port is already allocated",
        ),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]},
            'Service "thing" is invalid: spec.ports[0].nodePort: Invalid value: 80: '
            "provided port is not in the valid range. The range of valid ports is 30000-32767",
        ),
        (
            {"ipFamilyPolicy": "RequireDualStack"},
            'Service "thing" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": '
            "this cluster is not configured for dual-stack services",
        ),
        (
            {"ipFamilies": ["IPv6"]},
            'Service "thing" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
        ),
    ],
    ids=["address taken", "foreign address", "port taken", "foreign port", "dual stack", "family"],
)
def test_a_failed_allocation_is_refused_and_allocates_nothing(spec: dict[str, Any], message: str) -> None:
    pool = allocators()
    pool.ips["IPv4"].allocate("10.96.0.1")
    pool.ports.allocate(30001)
    with pytest.raises(StatusError) as caught:
        begin(plain(**spec), pool)
    assert (caught.value.code, caught.value.message) == (422, message)
    assert (len(pool.ips["IPv4"]), len(pool.ports)) == (1, 1)


def test_a_failed_write_releases_its_allocations() -> None:
    pool = allocators()
    _, release = begin(plain(type="NodePort"), pool)
    assert (len(pool.ips["IPv4"]), len(pool.ports)) == (1, 1)
    release(False)
    assert (len(pool.ips["IPv4"]), len(pool.ports)) == (0, 0)


def test_a_dry_run_allocates_nothing() -> None:
    pool = allocators()
    obj, release = begin(plain(type="NodePort"), pool, ctx=Context(dry_run=True))
    release(True)
    assert obj["spec"]["clusterIP"]
    assert (len(pool.ips["IPv4"]), len(pool.ports)) == (0, 0)


def test_protocols_of_one_port_share_a_node_port() -> None:
    ports = [{"name": "a", "port": 53}, {"name": "b", "port": 53, "protocol": "UDP"}]
    first, second = make(plain(type="NodePort", ports=ports), allocators())["spec"]["ports"]
    assert first["nodePort"] == second["nodePort"]


class CountedReads(dict[str, Any]):
    """Port of a Service that counts how often a field of any port is read."""

    count = 0

    def get(self, key: str, default: Any = None) -> Any:
        CountedReads.count += 1
        return super().get(key, default)


def test_the_work_for_node_ports_grows_with_the_number_of_ports_and_not_with_its_square() -> None:
    ports = [CountedReads(name=f"p{number}", port=number, protocol="TCP") for number in range(1, 1001)]
    obj = created("services", plain(type="NodePort"))
    obj["spec"]["ports"] = ports
    CountedReads.count = 0
    allocate_create(obj, allocators(), dry_run=True)
    assert len({port["nodePort"] for port in ports}) == 1000
    assert CountedReads.count < 10_000


def test_a_load_balancer_with_a_local_policy_gets_a_health_check_port() -> None:
    pool = allocators()
    spec = make(plain(type="LoadBalancer", externalTrafficPolicy="Local"), pool)["spec"]
    assert spec["healthCheckNodePort"] in pool.ports
    assert len(pool.ports) == 2


def test_a_change_of_type_allocates_and_releases() -> None:
    pool = allocators()
    obj = make(plain(), pool)
    exposed = change(obj, put("spec.type", "NodePort"), pool)
    assert exposed["spec"]["ports"][0]["nodePort"] in pool.ports

    def hide(new: Object) -> None:
        new["spec"].update(type="ExternalName", externalName="example.com")

    hidden = change(exposed, hide, pool)
    assert "clusterIP" not in hidden["spec"]
    assert "nodePort" not in hidden["spec"]["ports"][0]
    assert (len(pool.ips["IPv4"]), len(pool.ports)) == (0, 0)


def test_an_update_without_allocated_fields_keeps_them() -> None:
    pool = allocators()
    old = make(plain(type="NodePort"), pool)

    def replace(new: Object) -> None:
        new["spec"] = {"type": "NodePort", "selector": {"app": "other"}, "ports": [{"port": 80}]}

    new = change(old, replace, pool)
    for field in ("clusterIP", "clusterIPs"):
        assert new["spec"][field] == old["spec"][field]
    assert new["spec"]["ports"][0]["nodePort"] == old["spec"]["ports"][0]["nodePort"]


def test_two_families_get_two_addresses() -> None:
    pool = allocators("10.96.0.0/16", "fd00::/108")
    spec = make(plain(ipFamilyPolicy="PreferDualStack"), pool)["spec"]
    assert spec["ipFamilies"] == ["IPv4", "IPv6"]
    assert len(spec["clusterIPs"]) == 2
    assert len(pool.ips["IPv6"]) == 1


def test_deletion_releases_allocations() -> None:
    pool = allocators()
    obj = make(plain(type="LoadBalancer", externalTrafficPolicy="Local"), pool)
    asyncio.run(strategy("services").after_delete(obj, Allocation(pool, NoClaims())))
    assert (len(pool.ips["IPv4"]), len(pool.ports)) == (0, 0)


def test_allocators_are_rebuilt_from_stored_services() -> None:
    pool = allocators()
    stored = [make(plain(type="NodePort"), pool) for _ in range(3)]
    again = allocators()
    assert again.rebuild(stored) == []
    assert (len(again.ips["IPv4"]), len(again.ports)) == (3, 3)
    assert again.rebuild(stored[:1]) == [
        f"service default/thing: {stored[0]['spec']['clusterIP']}: provided IP is already allocated",
        f"service default/thing: {stored[0]['spec']['ports'][0]['nodePort']}: provided port is already allocated",
    ]


def test_a_full_range_is_reported() -> None:
    pool = allocators("10.0.0.0/29")
    given = {pool.ips["IPv4"].allocate_next() for _ in range(6)}
    assert given == {f"10.0.0.{n}" for n in range(1, 7)}
    with pytest.raises(RangeFull, match="range is full"):
        pool.ips["IPv4"].allocate_next()


@given(st.lists(st.booleans(), max_size=60), st.integers(0, 2**16))
def test_no_port_is_allocated_twice(steps: list[bool], seed: int) -> None:
    pool = Allocators(ports=(30000, 30019), rand=random.Random(seed))
    held: list[int] = []
    for take in steps:
        if take and len(held) < 20:
            port = pool.ports.allocate_next()
            assert port not in held
            held.append(port)
        elif held:
            pool.ports.release(held.pop())
    assert sorted(held) == [port for port in range(30000, 30020) if port in pool.ports]


@pytest.mark.parametrize(
    ("path", "value", "texts"),
    [
        (
            "spec.clusterIP",
            "10.96.0.9",
            [
                'spec.clusterIPs[0]: Invalid value: ["10.96.0.9"]: may not change once set',
            ],
        ),
        (
            "spec.sessionAffinityConfig",
            {"clientIP": {"timeoutSeconds": 90000}},
            [
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 90000: "
                "must be greater than 0 and less than 86400"
            ],
        ),
    ],
    ids=["address", "timeout"],
)
def test_faults_of_a_changed_service_are_reported(path: str, value: Any, texts: list[str]) -> None:
    old = plain(clusterIP="10.96.0.8", clusterIPs=["10.96.0.8"], sessionAffinity="ClientIP")

    def mutate(obj: Object) -> None:
        put(path, value)(obj)
        obj["spec"]["clusterIPs"] = [obj["spec"]["clusterIP"]]

    assert update_faults("services", old, mutate) == texts


def test_a_load_balancer_status_needs_a_load_balancer() -> None:
    texts = status_faults("services", service(), put("status.loadBalancer", {"ingress": [{"ip": "1.2.3.4"}]}))
    assert texts == ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]


def test_service_names_are_labels_and_may_start_with_a_digit() -> None:
    assert strategy("services").name_errors("9web") == []
    assert strategy("services").name_errors("a.b") != []


def test_external_addresses_draw_a_warning() -> None:
    obj = created("services", plain(externalIPs=["192.0.2.1"]))
    assert strategy("services").warnings_on_create(CONTEXT, obj) == [
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    ]
