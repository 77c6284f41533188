"""Configuration of sandboxes."""

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from sampan.node.cri.configuration.sandbox import SandboxPlace, cgroup_parent, namespaces, sandbox_config
from sampan.node.cri.messages import message, value
from tests.node.cri.containerd import cgroup_parent as cgroup_of_test
from tests.node.cri.containerd import containerd, missing
from tests.node.scripted import detailed, place_of

NODE = SandboxPlace(PurePosixPath("/var/log/pods"))


def config_of(**spec: Any) -> Any:
    """Return the configuration of a Pod's sandbox."""
    return sandbox_config(place_of(detailed({}, metadata={"labels": {"app": "web"}}, **spec)), NODE, attempt=1)


def test_sandbox_is_named_and_labelled_after_its_pod() -> None:
    config = config_of()
    assert config.metadata == message("PodSandboxMetadata")(name="web", namespace="default", uid="uid-1", attempt=1)
    assert dict(config.labels) == {
        "app": "web",
        "io.kubernetes.pod.name": "web",
        "io.kubernetes.pod.namespace": "default",
        "io.kubernetes.pod.uid": "uid-1",
    }
    assert config.log_directory == "/var/log/pods/default_web_uid-1"


def test_host_network_has_neither_hostname_nor_port_mappings() -> None:
    container = {"ports": [{"containerPort": 80, "hostPort": 8080}]}
    pod = detailed(container, hostNetwork=True)
    config = sandbox_config(place_of(pod), NODE, attempt=0)
    assert (config.hostname, list(config.port_mappings)) == ("", [])
    assert config_of(hostname="other").hostname == "other"


def test_host_ports_are_mapped() -> None:
    ports = [{"containerPort": 53, "hostPort": 5353, "protocol": "UDP", "hostIP": "127.0.0.1"}, {"containerPort": 80}]
    config = sandbox_config(place_of(detailed({"ports": ports})), NODE, attempt=0)
    expected = message("PortMapping")(protocol=value("UDP"), container_port=53, host_port=5353, host_ip="127.0.0.1")
    assert list(config.port_mappings) == [expected]


@pytest.mark.parametrize(
    ("spec", "network", "pid", "ipc"),
    [
        ({}, "POD", "CONTAINER", "POD"),
        ({"shareProcessNamespace": True}, "POD", "POD", "POD"),
        ({"hostNetwork": True, "hostPID": True, "hostIPC": True}, "NODE", "NODE", "NODE"),
    ],
    ids=["private", "shared processes", "host"],
)
def test_namespaces_follow_the_spec(spec: dict[str, Any], network: str, pid: str, ipc: str) -> None:
    expected = message("NamespaceOption")(network=value(network), pid=value(pid), ipc=value(ipc))
    assert namespaces(detailed({}, **spec)) == expected


@pytest.mark.parametrize(
    ("qos_class", "cgroup"),
    [
        ("Guaranteed", "/kubepods/poduid-1"),
        ("Burstable", "/kubepods/burstable/poduid-1"),
        ("BestEffort", "/kubepods/besteffort/poduid-1"),
    ],
)
def test_cgroup_follows_the_qos_class(qos_class: str, cgroup: str) -> None:
    pod = detailed({})
    pod.status = {"qosClass": qos_class}
    assert cgroup_parent(pod) == cgroup


@pytest.mark.skipif(bool(missing()), reason=f"containerd: {missing()}")
@pytest.mark.parametrize("spec", [{}, {"hostNetwork": True}], ids=["own network", "network of the node"])
async def test_containerd_accepts_the_configuration(tmp_path: Path, spec: dict[str, Any]) -> None:
    async with containerd(tmp_path) as client:
        node = SandboxPlace(PurePosixPath(tmp_path / "logs"))
        config = sandbox_config(place_of(detailed({}, **spec)), node, attempt=0)
        config.linux.cgroup_parent = cgroup_of_test(tmp_path)  # so that the test can remove it
        sandbox = await client.run_pod_sandbox(config)
        status = await client.pod_sandbox_status(sandbox)
        assert status.state == value("SANDBOX_READY")
        assert bool(status.network.ip) != bool(spec)
