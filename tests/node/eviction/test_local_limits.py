"""Limits of local storage."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sampan.component_base.resources import PODS
from sampan.node.eviction.local_limits import exceeded, has_limits
from sampan.node.eviction.meter import disk_use
from sampan.node.eviction.ranking import ContainerUse, DiskUse, PodUse
from sampan.node.views.pod import Pod
from sampan.testing.time.virtual_time import virtual_time
from tests.node.cluster import condition, create
from tests.node.eviction.cluster import pressed
from tests.node.test_pods import has_phase, is_ready

MIB = 2**20


def volume(limit: str | None = "1Mi", medium: str = "") -> dict[str, Any]:
    return {"name": "data", "emptyDir": {"sizeLimit": limit, "medium": medium}}


def limited(*limits: str | None, volumes: list[Any] | None = None) -> Pod:
    """Return a Pod whose containers c0, c1 … have these limits."""
    containers = [
        {"name": f"c{number}", "resources": {"limits": {} if limit is None else {"ephemeral-storage": limit}}}
        for number, limit in enumerate(limits)
    ]
    return msgspec.convert({"spec": {"containers": containers, "volumes": volumes or []}}, Pod)


def container(name: str, root: int = 0, logs: int = 0) -> ContainerUse:
    return ContainerUse(name, 0, DiskUse(root), DiskUse(logs))


def test_empty_dir_above_its_limit() -> None:
    use = PodUse("u", volumes={"data": DiskUse(MIB + 1)})
    assert exceeded(limited(volumes=[volume()]), use) == 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". '


def test_empty_dir_at_its_limit_is_fine() -> None:
    assert exceeded(limited(volumes=[volume()]), PodUse("u", volumes={"data": DiskUse(MIB)})) == ""


def test_container_above_its_limit() -> None:
    use = PodUse("u", containers=[container("c0", 2 * MIB, 1)])
    message = 'Container c0 exceeded its local ephemeral storage limit "2Mi". '
    assert exceeded(limited("2Mi", "1Gi"), use) == message


def test_layer_on_another_disk_does_not_count_for_a_container() -> None:
    use = PodUse("u", containers=[container("c0", 2 * MIB, 1)])
    assert exceeded(limited("2Mi", "1Gi"), use, has_image_disk=True) == ""


def test_pod_above_the_sum_of_its_limits() -> None:
    use = PodUse("u", containers=[container("c0", MIB)], volumes={"data": DiskUse(3 * MIB)})
    message = "Pod ephemeral local storage usage exceeds the total limit of containers 3Mi. "
    assert exceeded(limited("1Mi", "2Mi", None), use) == message


@pytest.mark.parametrize(
    ("pod", "found"),
    [
        (limited("1Mi"), True),
        (limited(volumes=[volume()]), True),
        (limited(None, volumes=[volume(None)]), False),
        (limited(volumes=[volume(medium="Memory")]), False),
    ],
    ids=["container", "emptyDir", "none", "the kernel's"],
)
def test_only_pods_with_limits_are_measured(pod: Pod, found: bool) -> None:
    assert has_limits(pod) is found


def test_use_of_a_directory_counts_blocks_and_hard_links_once(tmp_path: Path) -> None:
    before = disk_use(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_bytes(b"x" * 8192)
    os.link(tmp_path / "below" / "file", tmp_path / "link")
    (tmp_path / "away").symlink_to("/usr")
    found = disk_use(tmp_path)
    assert 8192 <= found.bytes - before.bytes <= 3 * 8192
    assert found.inodes - before.inodes == 3


def test_missing_directory_uses_nothing(tmp_path: Path) -> None:
    assert disk_use(tmp_path / "gone") == DiskUse()


@virtual_time
async def test_pod_that_exceeds_the_limit_of_its_volume_is_evicted(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, _):
        created = await create(cluster, "web", volumes=[volume("64Ki")])
        await cluster.until(PODS, "web", is_ready)
        directory = tmp_path / "pods" / created["metadata"]["uid"] / "volumes" / "kubernetes.io~empty-dir" / "data"
        directory.mkdir(parents=True)
        (directory / "file").write_bytes(b"x" * 2**17)
        found = await cluster.until(PODS, "web", has_phase("Failed"))
        assert found["status"]["reason"] == "Evicted"
        assert found["status"]["message"] == 'Usage of EmptyDir volume "data" exceeds the limit "64Ki". '
        assert not condition(found, "DisruptionTarget")
