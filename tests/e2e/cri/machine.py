"""A machine for a node: private mount, network, UTS and PID namespaces with containerd, and `sampan up` in them.

The machine's own network and mounts are not touched. Killing the first process of the PID namespace ends everything in
it: containerd, shims, containers and Sampan.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.cri import image

ADDRESS = "172.30.0.1"
PACKAGES = ("containerd", "containernetworking-plugins", "nftables", "iptables", "busybox-static", "iproute2")
_CGROUPS = Path("/sys/fs/cgroup")
_PROGRAMS = ("containerd", "ctr", "runc", "nft", "iptables", "ip", "unshare", "nsenter")

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
    snapshotter = "overlayfs"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{root}/cni"
"""
_START = """
set -e
mount --make-rshared /
umount /sys/fs/cgroup/unified 2>/dev/null || true
mkdir -p {root}/cgroup {root}/cni
mount --rbind /sys/fs/cgroup {root}/cgroup
mount -t sysfs sysfs /sys
mount --rbind {root}/cgroup /sys/fs/cgroup
hostname machine
ip link set lo up
ip link add lan0 type bridge
ip addr add {address}/24 dev lan0
ip link set lan0 up
ip route add default via 172.30.0.254
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
touch {root}/started
exec sleep infinity
"""


def missing() -> str:
    """Return what this machine lacks; empty if it lacks nothing. Debian's packages are installed if possible."""
    if os.geteuid() != 0:
        return "needs root"
    if _lacking() and shutil.which("apt-get") is not None:
        subprocess.run(
            ["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            check=False,
        )
    lacking = _lacking()
    return f"not installed: {', '.join(lacking)}" if lacking else ""


def _lacking() -> list[str]:
    found = [name for name in _PROGRAMS if shutil.which(name) is None]
    return found + [path for path in ("/usr/lib/cni/bridge", "/bin/busybox") if not os.path.exists(path)]


@dataclass
class Machine:
    """Running machine."""

    root: Path
    pid: int
    """First process of its PID namespace."""
    containerd: "subprocess.Popen[bytes] | None" = None

    @property
    def enter(self) -> Sequence[str]:
        """Command that runs another command on the machine."""
        return ("nsenter", "-t", str(self.pid), "-m", "-n", "-u", "-p")

    @property
    def cgroup(self) -> str:
        """Cgroup of all containers."""
        return f"sampan-test-{hashlib.sha256(str(self.root).encode()).hexdigest()[:16]}"

    @property
    def socket(self) -> str:
        """Socket of containerd."""
        return f"{self.root}/containerd.sock"

    def run(self, *command: str) -> str:
        """Run a command that succeeds, and return its output."""
        done = subprocess.run([*self.enter, *command], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def output(self, *command: str) -> str:
        """Run a command that may fail, and return its output."""
        done = subprocess.run([*self.enter, *command], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout

    def program(self, name: str) -> str:
        """Write a program that runs another program on the machine, and return its path."""
        path = self.root / name
        path.write_text(f'#!/bin/sh\nexec {" ".join(self.enter)} {shutil.which(name)} "$@"\n')
        path.chmod(0o755)
        return str(path)

    def start_containerd(self) -> None:
        """Start containerd, and wait until it responds."""
        with (self.root / "containerd.log").open("ab") as log:
            self.containerd = subprocess.Popen(
                [*self.enter, "containerd", "--config", f"{self.root}/config.toml"], stdout=log, stderr=log
            )
        wait_for(self._responds, "containerd")

    def restart_containerd(self) -> None:
        """Kill containerd, and start it again. Its containers keep running."""
        for name in self.run("ls", "/proc").split():
            if name.isdecimal() and self.output("cat", f"/proc/{name}/comm").strip() == "containerd":
                self.run("kill", "-9", name)
        self.end_containerd()
        self.start_containerd()

    def end_containerd(self) -> None:
        """Wait for the end of containerd, which was killed."""
        if self.containerd is not None:
            self.containerd.wait()

    def _responds(self) -> bool:
        command = [*self.enter, "ctr", "--address", self.socket, "version"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def up(self, data: Path, *more: str) -> "subprocess.Popen[str]":
        """Start a server with a node, and wait until it is ready. `more`: other options."""
        command = [sys.executable, "-m", "sampan.cli", "up", "--data", str(data), "--port", "6443"]
        command += ["--bind", ADDRESS, "--storage", "memory", "--node-runtime", "cri"]
        command += [*self._node_options(), *more]
        with (self.root / "sampan.log").open("a") as log:
            process = subprocess.Popen([*self.enter, *command], stdout=subprocess.PIPE, stderr=log, text=True)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready"), (self.root / "sampan.log").read_text()
        return process

    def node(self, data: Path, *more: str) -> "subprocess.Popen[bytes]":
        """Start a node in its own process. `data`: directory of the server; `more`: other options."""
        command = [sys.executable, "-m", "sampan.cli", "node", "--runtime", "cri", "--node-name", "node-1"]
        command += ["--kubeconfig", str(data / "kubeconfig"), "--root", str(data / "node"), "--address", ADDRESS]
        command += [*self._node_options(), *more]
        with (self.root / "node.log").open("a") as log:
            return subprocess.Popen([*self.enter, *command], stdout=log, stderr=log)

    def _node_options(self) -> list[str]:
        options = ["--container-runtime-endpoint", self.socket, "--cni-conf-dir", str(self.root / "cni")]
        return [*options, "--pod-logs-dir", str(self.root / "logs"), "--cgroup-root", f"/{self.cgroup}"]

    def left(self) -> list[str]:
        """Return what Pods have left: cgroups, network namespaces, mounts, addresses, files."""
        mounts = self.run("cat", "/proc/self/mounts").splitlines()
        # The namespace began with the mounts of the whole machine. Other tests may have made some of them.
        mounts = [line for line in mounts if str(self.root) in line or "/run/netns" in line]
        found = [line for line in mounts if "/pods/" in line or "cni-" in line or "/run/io.containerd" in line]
        found += [f"netns {name}" for name in self.run("ip", "netns", "list").split()]
        found += [f"link {line}" for line in self.run("ip", "-o", "link").splitlines() if "veth" in line]
        found += [str(each) for each in _CGROUPS.glob(f"*/{self.cgroup.strip('/')}/kubepods/*/pod*")]
        found += [str(each) for each in _CGROUPS.glob(f"*/{self.cgroup.strip('/')}/kubepods/pod*")]
        found += [str(each) for each in self.root.glob("data/node/pods/*")]
        found += [str(each) for each in self.root.glob("data/node/addresses/sampan/1*")]
        return found + [str(each) for each in self.root.glob("logs/*")]


@contextmanager
def machine(root: Path) -> Iterator[Machine]:
    """Run a machine with its files in a directory."""
    (root / "config.toml").write_text(_CONFIG.format(root=root, pause=image.PAUSE))
    image.build(root / "images.tar")
    process = subprocess.Popen(
        [
            *("unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"),
            *("--propagation", "private", "bash", "-c", _START.format(root=root, address=ADDRESS)),
        ]
    )
    found = Machine(root, 0)
    try:
        wait_for((root / "started").exists, "the namespaces")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        found.pid = int(children[0])
        found.start_containerd()
        found.run("ctr", "--address", found.socket, "-n", "k8s.io", "images", "import", str(root / "images.tar"))
        yield found
    finally:
        process.kill()
        process.wait()
        found.end_containerd()
        _remove_cgroups(found.cgroup)


def wait_for(condition: Callable[[], object], what: str, timeout_s: float = 30.0) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"timed out: {what}"
        time.sleep(0.05)


def _remove_cgroups(name: str) -> None:
    """Remove the cgroups of containers that were killed. Their processes may need a moment to end."""

    def gone() -> bool:
        for parent in _CGROUPS.glob(f"*/{name.strip('/')}"):
            for directory, _, _ in os.walk(parent, topdown=False):
                with suppress(OSError):
                    os.rmdir(directory)
        return not list(_CGROUPS.glob(f"*/{name.strip('/')}"))

    wait_for(gone, "the end of all cgroups")
