"""Two machines with containerd; on the first one a server and a node, on the second one a node that joined."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.conformance import images
from tests.e2e.cri.processes import join, join_command, up
from tests.machines import Containerd, Machine, lan, oci_registry, wait_for

NODES = 2
_REGISTRY_PORT = 5000


@dataclass(frozen=True)
class Cluster:
    """Running cluster."""

    first: Machine
    kubeconfig: Path

    def command(self, *words: str) -> list[str]:
        """Return a command that runs another one where it reaches the server."""
        return [*self.first.enter, *words]


@contextmanager
def cluster(
    root: Path, archive: Path, report: Callable[[str], None], nodes: int = NODES, runtimes: Path | None = None
) -> Iterator[Cluster]:
    """Run a cluster with its files in a new directory. It disappears at the end, but for the logs.

    `runtimes`: directory of containerd and runc; by default those on PATH.
    """
    names = [f"node-{number}" for number in range(1, nodes + 1)]
    with _without_images(root, names), lan(root, names) as network:
        report("starting containerd and loading images")
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda machine: _start_containerd(machine, archive, runtimes), network.machines))
        first, *others = network.machines
        data = root / "data"
        report("starting Sampan")
        options = ["--node-runtime", "cri", "--cgroup-root", f"/{first.cgroup}", "--service-proxy", "--dns"]
        up(first, network.address(0), *options, data=data, storage="sqlite")
        for machine in others:
            join(machine, join_command(first, data))
        kubeconfig = data / "kubeconfig"
        wait_for(lambda: _ready_nodes(first, kubeconfig) == nodes, "all nodes", 120)
        yield Cluster(first, kubeconfig)


@contextmanager
def _without_images(root: Path, names: Sequence[str]) -> Iterator[None]:
    """Remove the images and volumes of nodes at the end, which are large."""
    try:
        yield
    finally:
        for name in names:
            for directory in ("run", "var/lib"):
                shutil.rmtree(root / name / directory, ignore_errors=True)


def _start_containerd(machine: Machine, archive: Path, runtimes: Path | None) -> None:
    containerd = Containerd(machine, images.PAUSE, runtimes)
    # Images with the pull policy Always come from a registry. What it does not have fails at once.
    default = containerd.registries / "_default"
    default.mkdir(exist_ok=True)
    url = f"http://127.0.0.1:{_REGISTRY_PORT}"
    capabilities = 'capabilities = ["pull", "resolve"]'
    (default / "hosts.toml").write_text(f'server = "{url}"\n[host."{url}"]\n  {capabilities}\n')
    machine.start(sys.executable, oci_registry.__file__, str(archive), str(_REGISTRY_PORT), log="registry.log")
    containerd.start()
    command = [*machine.enter, containerd.program("ctr"), "-n", "k8s.io", "images", "import", str(archive)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _ready_nodes(machine: Machine, kubeconfig: Path) -> int:
    command = (sys.executable, "-m", "sampan.cli", "get", "nodes", f"--kubeconfig={kubeconfig}", "--no-headers")
    return sum(" Ready " in line for line in machine.output(*command).splitlines())
