"""containerd on a machine, with a registry next to it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from sampan.node.cri import CriClient
from tests.machines import Containerd, Machine, machine, missing, wait_for
from tests.node.cri import registry

__all__ = ["IMAGE", "PAUSE", "cgroup_parent", "containerd", "missing"]

PORT = 5000
IMAGE, PAUSE = "registry.test/app:1", "registry.test/pause:1"


@asynccontextmanager
async def containerd(root: Path) -> AsyncIterator[CriClient]:
    """Run containerd with its files in a directory, and connect to it."""
    context = _running(root)
    running = await asyncio.to_thread(context.__enter__)
    try:
        async with CriClient(str(running.socket)) as client:
            await client.connect()
            yield client
    finally:
        await asyncio.to_thread(context.__exit__, None, None, None)


@contextmanager
def _running(root: Path) -> Iterator[Containerd]:
    registry.build(root / "images")
    with machine(root) as found:
        _write_network(found)
        running = Containerd(found, PAUSE)
        hosts = running.registries / "registry.test"
        hosts.mkdir()
        url = f"http://127.0.0.1:{PORT}"
        (hosts / "hosts.toml").write_text(f'server = "{url}"\n[host."{url}"]\n  capabilities = ["pull", "resolve"]\n')
        found.start(sys.executable, registry.__file__, str(root / "images"), str(PORT), log="registry.log")
        listens = f"(echo > /dev/tcp/127.0.0.1/{PORT}) 2> /dev/null && echo yes"
        wait_for(lambda: found.output("bash", "-c", listens), "the registry")
        running.start()
        yield running


def _write_network(found: Machine) -> None:
    ipam = {"type": "host-local", "ranges": [[{"subnet": "10.244.3.0/24"}]]}
    bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipam": ipam}
    network = {"cniVersion": "1.0.0", "name": "test", "plugins": [bridge]}
    directory = found.root / "etc" / "cni" / "net.d"
    directory.mkdir()
    (directory / "10-test.conflist").write_text(json.dumps(network))


def cgroup_parent(root: Path) -> str:
    """Return the parent of all cgroups of a test's containers."""
    return f"/{Machine(root, '').cgroup}"
