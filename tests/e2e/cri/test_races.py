"""Containers that swap a directory of a volume with a link to the root of the node, while others mount it."""

import os
from time import monotonic, sleep

import pytest

from tests.e2e.cri.conftest import Cluster
from tests.e2e.cri.image import APP
from tests.e2e.cri.test_pods import manifest

pytestmark = pytest.mark.e2e
SECONDS = float(os.environ.get("SAMPAN_RACE_SECONDS", "10"))
READERS = 8
_SWAP = """
cd /v; mkdir real; touch real/own; ln -s / link
while :; do mv -T real part; mv -T part real; mv -T link part; mv -T part link; done
"""
_READ = "[ -e /m/etc ] && echo machine; [ -e /m/own ] && echo own; echo mounted"


def test_container_never_mounts_the_root_of_the_node(cluster: Cluster) -> None:
    def container(name: str, script: str, **mount: str) -> dict[str, object]:
        mounts = [{"name": "shared", **mount}]
        return {"name": name, "image": APP, "command": ["sh", "-c", script], "volumeMounts": mounts}

    readers = [container(f"reader-{number}", _READ, mountPath="/m", subPath="part") for number in range(READERS)]
    containers = [container("swapper", _SWAP, mountPath="/v"), *readers]
    spec = {"volumes": [{"name": "shared", "emptyDir": {}}], "containers": containers, "restartPolicy": "Always"}
    cluster.kubectl.apply(manifest("race", "", spec={**spec, "terminationGracePeriodSeconds": 0}))
    end, output = monotonic() + SECONDS, set[str]()
    while monotonic() < end or "mounted" not in output:
        assert monotonic() < end + 60, "no reader has mounted its directory"
        for number in range(READERS):
            for previous in ("false", "true"):
                options = ("-c", f"reader-{number}", f"--previous={previous}")
                output |= set(cluster.kubectl.run("logs", "race", *options).stdout.split())
        assert "machine" not in output
        sleep(0.5)
    # The runtime gets a path of the agent, at which the directory is mounted.
    mounts = cluster.machine.run("cat", "/proc/self/mounts")
    assert "volume-subpaths/reader-" in mounts
    cluster.kubectl("delete", "pod", "race", "--grace-period=0", "--timeout=30s")
    cluster.until(lambda: "volume-subpaths" not in cluster.machine.run("cat", "/proc/self/mounts"), "the unmounts")


def test_pod_with_an_unsafe_sysctl_does_not_run(cluster: Cluster) -> None:
    sysctls = [{"name": "kernel.msgmax", "value": "65536"}]
    cluster.kubectl.apply(manifest("tuned", "sleep 60", spec={"securityContext": {"sysctls": sysctls}}))
    cluster.until(lambda: cluster.pod("tuned")["status"]["phase"] == "Failed", "the refusal")
    assert cluster.pod("tuned")["status"]["reason"] == "SysctlForbidden"
