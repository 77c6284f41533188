"""containerd in private mount, network, UTS and PID namespaces, with a registry next to it.

The machine's own network and mounts are not touched. Killing the first process of the PID namespace ends everything in
it: containerd, shims and containers.
"""

import asyncio
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from sampan.node.cri import CriClient
from tests.node.cri import registry

PORT = 5000
IMAGE, PAUSE = "registry.test/app:1", "registry.test/pause:1"
_CNI = Path("/usr/lib/cni")
_CGROUPS = Path("/sys/fs/cgroup")

_CONFIG = """
version = 2
root = "{root}/var"
state = "{root}/run"
[grpc]
  address = "{root}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni}"
    conf_dir = "{root}/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{root}/certs.d"
"""
_START = """
set -e
mount --make-rshared /
umount /sys/fs/cgroup/unified 2>/dev/null || true
mkdir {root}/cgroup
mount --rbind /sys/fs/cgroup {root}/cgroup
mount -t sysfs sysfs /sys
mount --rbind {root}/cgroup /sys/fs/cgroup
hostname node
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
ip link set lo up
{python} {registry} {root}/images {port} &
until (echo > /dev/tcp/127.0.0.1/{port}) 2> /dev/null; do sleep 0.05; done
exec containerd --config {root}/config.toml
"""


def missing() -> str:
    """Return what this machine lacks to run containerd; empty if it lacks nothing."""
    if os.geteuid() != 0:
        return "needs root"
    lacking = [name for name in ("containerd", "runc", "unshare", "ip", "ldd") if shutil.which(name) is None]
    if not (_CNI / "bridge").exists():
        lacking.append(f"CNI plug-ins in {_CNI}")
    return f"not installed: {', '.join(lacking)}" if lacking else ""


@asynccontextmanager
async def containerd(root: Path) -> AsyncIterator[CriClient]:
    """Run containerd with its files in a directory, and connect to it."""
    (root / "cni").mkdir()
    registry.build(root / "images")
    ipam = {"type": "host-local", "ranges": [[{"subnet": "10.244.3.0/24"}]], "dataDir": f"{root}/ipam"}
    bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipam": ipam}
    network = {"cniVersion": "1.0.0", "name": "test", "plugins": [bridge]}
    (root / "cni" / "10-test.conflist").write_text(json.dumps(network))
    hosts = root / "certs.d" / "registry.test"
    hosts.mkdir(parents=True)
    url = f"http://127.0.0.1:{PORT}"
    (hosts / "hosts.toml").write_text(f'server = "{url}"\n[host."{url}"]\n  capabilities = ["pull", "resolve"]\n')
    (root / "config.toml").write_text(_CONFIG.format(root=root, pause=PAUSE, cni=_CNI))
    start = _START.format(root=root, python=sys.executable, registry=registry.__file__, port=PORT)
    with (root / "containerd.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *("unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"),
            *("--propagation", "private", "bash", "-c", start),
            stdout=log,
            stderr=log,
        )
    try:
        async with CriClient(str(root / "containerd.sock")) as client:
            await client.connect()
            yield client
    finally:
        process.kill()
        await process.wait()
        await asyncio.to_thread(_remove_cgroups, cgroup_parent(root).lstrip("/"))


def cgroup_parent(root: Path) -> str:
    """Return the parent of all cgroups of a test's containers."""
    return f"/sampan-test-{hashlib.sha256(str(root).encode()).hexdigest()[:16]}"


def _remove_cgroups(name: str) -> None:
    """Remove the cgroups of containers that were killed. Their processes may need a moment to end."""
    deadline = time.monotonic() + 20
    while left := list(_CGROUPS.glob(f"*/{name}")):
        assert time.monotonic() < deadline, f"cgroups are left: {left}"
        for parent in left:
            for directory, _, _ in os.walk(parent, topdown=False):
                with suppress(OSError):
                    os.rmdir(directory)
        time.sleep(0.05)
