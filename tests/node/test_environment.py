"""Environment variables and the downward API."""

from typing import Any

import pytest

from sampan.node.environment.environment import environment_of, host_name
from sampan.node.environment.fields import PodPlace, field_value, formatted, resource_value
from sampan.node.environment.services import Service, ServicePort, ServiceSpec, at, service_environment
from sampan.node.references import ConfigMap, Missing, Secret
from sampan.node.views.volume_sources import ResourcePath
from sampan.resource import ObjectMeta
from tests.node.scripted import detailed, place_of


class FakeReferences:
    """References with two objects; counts how often they are read."""

    def __init__(self) -> None:
        self.reads = 0

    async def config_map(self, namespace: str, name: str) -> ConfigMap:
        self.reads += 1
        if name != "cfg":
            raise Missing(f'configmap "{name}" not found')
        return ConfigMap(data={"color": "blue", "size": "3"}, binary_data={"b": b"\xff"})

    async def secret(self, namespace: str, name: str) -> Secret:
        self.reads += 1
        if name != "sec":
            raise Missing(f'secret "{name}" not found')
        return Secret(data={"key": b"s3cret", "raw": b"\xff"})


async def environment(container: dict[str, Any], services: dict[str, str] | None = None) -> dict[str, str]:
    pod = detailed(container)
    references: Any = FakeReferences()
    return await environment_of(place_of(pod), pod.spec.containers[0], services or {}, references)


def value_from(**source: Any) -> dict[str, Any]:
    return {"env": [{"name": "X", "valueFrom": source}]}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ({"configMapKeyRef": {"name": "cfg", "key": "color"}}, "blue"),
        ({"secretKeyRef": {"name": "sec", "key": "key"}}, "s3cret"),
        ({"secretKeyRef": {"name": "sec", "key": "raw"}}, "\udcff"),
        ({"fieldRef": {"fieldPath": "metadata.name"}}, "web"),
        ({"configMapKeyRef": {"name": "none", "key": "k", "optional": True}}, None),
        ({"configMapKeyRef": {"name": "cfg", "key": "k", "optional": True}}, None),
        ({"secretKeyRef": {"name": "none", "key": "k", "optional": True}}, None),
    ],
)
async def test_values_come_from_their_sources(source: dict[str, Any], value: str | None) -> None:
    assert (await environment(value_from(**source))).get("X") == value


@pytest.mark.parametrize(
    ("container", "text"),
    [
        (value_from(configMapKeyRef={"name": "none", "key": "k"}), 'configmap "none" not found'),
        (value_from(secretKeyRef={"name": "none", "key": "k"}), 'secret "none" not found'),
        (value_from(configMapKeyRef={"name": "cfg", "key": "k"}), "couldn't find key k in ConfigMap default/cfg"),
        (value_from(secretKeyRef={"name": "sec", "key": "k"}), "couldn't find key k in Secret default/sec"),
        ({"envFrom": [{"configMapRef": {"name": "none"}}]}, 'configmap "none" not found'),
    ],
)
async def test_missing_references_have_the_messages_of_the_kubelet(container: dict[str, Any], text: str) -> None:
    with pytest.raises(Missing) as missing:
        await environment(container)
    assert str(missing.value) == text


async def test_own_variables_override_whole_objects_and_services() -> None:
    container = {
        "envFrom": [{"prefix": "P_", "configMapRef": {"name": "cfg"}}, {"secretRef": {"name": "no", "optional": True}}],
        "env": [
            {"name": "P_size", "value": "4"},
            {"name": "BOTH", "value": "$(P_color) $(P_size) $(SVC_HOST) $(LATER) $$(P_size)"},
            {"name": "LATER", "value": "x"},
        ],
    }
    found = await environment(container, {"SVC_HOST": "10.0.0.1", "LATER": "service"})
    assert list(found) == ["HOSTNAME", "P_color", "P_size", "BOTH", "LATER", "SVC_HOST"]
    assert found["BOTH"] == "blue 4 10.0.0.1 service $(P_size)"
    assert (found["HOSTNAME"], found["LATER"]) == ("web", "x")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.namespace", "default"),
        ("metadata.uid", "uid-1"),
        ("metadata.labels['app']", "shop"),
        ("metadata.labels['none']", ""),
        ("metadata.annotations['a[b]c']", "v"),
        ("metadata.labels", 'app="shop"'),
        ("spec.nodeName", "node"),
        ("spec.serviceAccountName", "robot"),
        ("status.hostIP", "192.168.0.1"),
        ("status.hostIPs", "192.168.0.1,fd01::1"),
        ("status.podIP", "10.0.0.1"),
        ("status.podIPs", "10.0.0.1,fd00::1"),
    ],
)
def test_fields_have_their_values(path: str, value: str) -> None:
    metadata = {"labels": {"app": "shop"}, "annotations": {"a[b]c": "v"}}
    pod = detailed({}, metadata=metadata, serviceAccountName="robot")
    assert field_value(PodPlace(pod, ("192.168.0.1", "fd01::1"), ("10.0.0.1", "fd00::1")), path) == value


@pytest.mark.parametrize("path", ["spec.foo", "metadata.name['x']", "['x']", ""])
def test_unsupported_fields_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"fieldPath"):
        field_value(place_of(detailed({})), path)


def test_texts_are_quoted_as_in_go() -> None:
    assert formatted({"b": 'x"\n\\', "a": "ü\x01\u200b"}) == 'a="ü\\x01\\u200b"\nb="x\\"\\n\\\\"'


@pytest.mark.parametrize(
    ("resource", "divisor", "value"),
    [
        ("limits.cpu", "", "2"),
        ("limits.cpu", "1m", "1500"),
        ("requests.cpu", "0", "1"),
        ("requests.memory", "1Mi", "64"),
        ("limits.memory", "1Mi", "1024"),
        ("requests.ephemeral-storage", "1", "0"),
    ],
    ids=["rounded up", "thousandths", "zero is one", "memory", "of the node", "nothing"],
)
def test_resources_are_divided_by_their_divisor(resource: str, divisor: str, value: str) -> None:
    resources = {"limits": {"cpu": "1500m"}, "requests": {"cpu": "100m", "memory": "64Mi"}}
    place = place_of(detailed({"resources": resources}))
    assert resource_value(place, ResourcePath(resource=resource, divisor=divisor), "main") == value


def service(namespace: str, name: str, address: str = "10.96.0.9") -> Service:
    ports = [ServicePort("http", "TCP", 80), ServicePort("dns", "UDP", 53)]
    return Service(ObjectMeta(name=name, namespace=namespace), ServiceSpec(address, ports))


def test_services_have_variables() -> None:
    found = service_environment([service("shop", "web-app")], "shop", links=True)
    assert found == {
        "WEB_APP_SERVICE_HOST": "10.96.0.9",
        "WEB_APP_SERVICE_PORT": "80",
        "WEB_APP_SERVICE_PORT_HTTP": "80",
        "WEB_APP_SERVICE_PORT_DNS": "53",
        "WEB_APP_PORT": "tcp://10.96.0.9:80",
        "WEB_APP_PORT_80_TCP": "tcp://10.96.0.9:80",
        "WEB_APP_PORT_80_TCP_PROTO": "tcp",
        "WEB_APP_PORT_80_TCP_PORT": "80",
        "WEB_APP_PORT_80_TCP_ADDR": "10.96.0.9",
        "WEB_APP_PORT_53_UDP": "udp://10.96.0.9:53",
        "WEB_APP_PORT_53_UDP_PROTO": "udp",
        "WEB_APP_PORT_53_UDP_PORT": "53",
        "WEB_APP_PORT_53_UDP_ADDR": "10.96.0.9",
    }


def test_only_the_api_server_has_variables_without_links() -> None:
    services = [service("default", "kubernetes"), service("shop", "a"), service("other", "b"), service("shop", "c", "")]
    assert {name.split("_")[0] for name in service_environment(services, "shop", links=False)} == {"KUBERNETES"}
    assert {name.split("_")[0] for name in service_environment(services, "shop", links=True)} == {"KUBERNETES", "A"}


def test_address_of_the_api_server_can_be_replaced() -> None:
    services = [service("default", "kubernetes"), service("shop", "a")]
    found = service_environment(at(services, "https://127.0.0.1:6443"), "shop", links=True)
    assert (found["KUBERNETES_SERVICE_HOST"], found["KUBERNETES_SERVICE_PORT"]) == ("127.0.0.1", "6443")
    assert found["KUBERNETES_SERVICE_PORT_HTTPS"] == "6443"
    assert found["A_SERVICE_HOST"] == service_environment(services, "shop", links=True)["A_SERVICE_HOST"]
    assert at(services, "") == services


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, "web-0"),
        ({"hostname": "own"}, "own"),
        ({"hostNetwork": True}, "node-7"),
        ({"hostNetwork": True, "hostname": "own"}, "node-7"),
    ],
    ids=["name", "hostname", "host network", "both"],
)
def test_host_name_is_that_of_the_pod_or_the_node(spec: dict[str, Any], expected: str) -> None:
    pod = detailed({}, metadata={"name": "web-0"}, **{"nodeName": "node-7", **spec})
    assert host_name(place_of(pod)) == expected
