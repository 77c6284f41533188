"""The examples 14 and 15 with containers: Pods follow their leader, and a storm kills Pods within its budget."""

import sys
from pathlib import Path

import pytest

from tests.e2e.cri import image, python_image
from tests.e2e.cri.conftest import Cluster
from tests.examples.storm_and_captain import stories
from tests.examples.storm_and_captain.operators import FOLDERS, operating

pytestmark = pytest.mark.e2e

PORT = 8123


def kubeconfig(cluster: Cluster) -> Path:
    return Path(cluster.kubectl.environment["KUBECONFIG"])


def test_containers_follow_their_leader(cluster: Cluster, tmp_path: Path) -> None:
    python_image.build(tmp_path / "python.tar")
    cluster.containerd.load(tmp_path / "python.tar")
    script = str(FOLDERS["captains"] / "app" / "harbour.py")
    cluster.machine.start(sys.executable, script, "store", str(PORT), str(tmp_path), log="store.log")
    [address] = cluster.kubectl("get", "nodes", "-o", "jsonpath={.items[*].status.addresses[0].address}").split()
    with operating("captains", kubeconfig(cluster), tmp_path / "log", cluster.machine.enter) as operator:
        stories.an_application_follows_its_leader(
            cluster.kubectl,
            operator,
            python_image.NAME,
            f"http://{address}:{PORT}",
            lambda: stories.read_lines(tmp_path / "writes"),
        )
    cluster.kubectl("delete", "pods", "--all", "--timeout=60s")


def test_containers_are_killed_within_the_budget(cluster: Cluster, tmp_path: Path) -> None:
    with operating("storms", kubeconfig(cluster), tmp_path / "log", cluster.machine.enter) as operator:
        stories.a_storm_kills_within_its_budget(cluster.kubectl, operator, image.APP)
