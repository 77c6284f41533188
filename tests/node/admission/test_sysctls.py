"""Sysctls that a node allows."""

from typing import Any

import pytest

from sampan.component_base.resources import PODS
from sampan.node.admission.sysctls import AllowedSysctls, normalized
from tests.node.cluster import create, simulated
from tests.node.scripted import detailed


def refused(allowed: AllowedSysctls, *names: str, **spec: Any) -> str:
    sysctls = [{"name": name, "value": "1"} for name in names]
    found = allowed.refusal(detailed({}, securityContext={"sysctls": sysctls}, **spec))
    assert found is None or found.reason == "SysctlForbidden"
    return "" if found is None else found.message


@pytest.mark.parametrize(
    ("names", "spec", "text"),
    [
        (["kernel.shm_rmid_forced", "net.ipv4.tcp_rmem"], {}, ""),
        (["net/ipv4/tcp_rmem"], {}, ""),
        ([], {"hostNetwork": True}, ""),
        (["net.ipv4.tcp_syncookies", "kernel.msgmax"], {}, 'forbidden sysctl: "kernel.msgmax" not allowlisted'),
        (["net.ipv4.ip_forward"], {}, 'forbidden sysctl: "net.ipv4.ip_forward" not allowlisted'),
        (["net/ipv4/ip_forward"], {}, 'forbidden sysctl: "net.ipv4.ip_forward" not allowlisted'),
        (["vm.swappiness"], {}, 'forbidden sysctl: "vm.swappiness" not allowlisted'),
        (
            ["net.ipv4.tcp_syncookies"],
            {"hostNetwork": True},
            'forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host Net enabled',
        ),
        (
            ["kernel.shm_rmid_forced"],
            {"hostIPC": True},
            'forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host IPC enabled',
        ),
    ],
)
def test_only_safe_sysctls_are_allowed(names: list[str], spec: dict[str, Any], text: str) -> None:
    assert refused(AllowedSysctls(), *names, **spec) == text


def test_option_allows_names_and_patterns() -> None:
    allowed = AllowedSysctls(["kernel.msg*", "net.core.somaxconn", "net/ipv4/conf/*"])
    assert refused(allowed, "kernel.msgmax", "net.core.somaxconn", "net.ipv4.conf.all.rp_filter") == ""
    assert refused(allowed, "net.core.other") != ""
    assert refused(allowed, "kernel.msgmax", hostIPC=True).endswith("not allowed with host IPC enabled")


@pytest.mark.parametrize("name", ["vm.swappiness", "*", "kernel.*", "net.UPPER", "net.*.more", "", "a" * 300])
def test_sysctl_of_the_machine_cannot_be_allowed(name: str) -> None:
    with pytest.raises(ValueError, match="sysctl"):
        AllowedSysctls([name])


def test_sysctls_of_old_kernels_are_the_machines() -> None:
    assert refused(AllowedSysctls(kernel="4.9.0-19-amd64"), "net.ipv4.tcp_rmem") != ""
    assert refused(AllowedSysctls(kernel="6.18.44"), "net.ipv4.tcp_rmem") == ""


def test_slashes_separate_names_with_dots() -> None:
    assert normalized("net/ipv4/conf/eno2.100/rp_filter") == "net.ipv4.conf.eno2/100.rp_filter"
    assert normalized("net.ipv4.conf.eno2/100.rp_filter") == "net.ipv4.conf.eno2/100.rp_filter"


async def test_pod_with_an_unsafe_sysctl_fails() -> None:
    context = {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}
    async with simulated() as cluster:
        await create(cluster, "web", securityContext=context)
        found = await cluster.until(PODS, "web", lambda pod: pod["status"]["phase"] == "Failed")
    assert found["status"]["reason"] == "SysctlForbidden"
    assert found["status"]["message"] == 'Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted'
