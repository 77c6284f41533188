"""State of a container runtime."""

from types import SimpleNamespace

import pytest

from sampan.node.cri.health import RuntimeHealth


@pytest.mark.parametrize(
    ("name", "version", "mounts"),
    [
        ("containerd", "1.6.20", False),
        ("containerd", "v2.0.5", False),
        ("containerd", "2.1.0-rc.1", True),
        ("containerd", "v2.10.0", True),
        ("cri-o", "1.33.0", True),
    ],
)
def test_only_old_containerd_cannot_mount_images(name: str, version: str, mounts: bool) -> None:
    health = RuntimeHealth("/run/runtime.sock")
    health.connected(SimpleNamespace(runtime_name=name, runtime_version=version))
    assert health.mounts_images is mounts
