"""containerd on a machine, at its usual socket and in its usual directories."""

import os
import subprocess
from pathlib import Path

from tests.machines.machine import Machine
from tests.machines.waiting import wait_for

SOCKET = "/run/containerd/containerd.sock"
_CONFIG = """
version = 2
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{certs}"
"""


class Containerd:
    """containerd of one machine. It ends with the machine."""

    def __init__(self, machine: Machine, pause: str, programs: Path | None = None) -> None:
        """`pause`: image of sandboxes. `programs`: directory of containerd, ctr and runc; by default those on PATH."""
        self._machine = machine
        self._config = machine.root / "containerd.toml"
        self.registries.mkdir(exist_ok=True)
        self._config.write_text(_CONFIG.format(socket=SOCKET, pause=pause, certs=self.registries))
        self._programs = programs
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def registries(self) -> Path:
        """Directory with the addresses of registries."""
        return self._machine.root / "certs.d"

    @property
    def socket(self) -> Path:
        """Socket, as this machine sees it."""
        return self._machine.root / SOCKET.lstrip("/")

    def start(self) -> None:
        """Start containerd, and wait until it responds."""
        path = os.environ.get("PATH", os.defpath)
        # containerd finds runc on PATH.
        found = f"PATH={self._programs}:{path}" if self._programs else f"PATH={path}"
        command = ["env", found, self.program("containerd"), "--config", str(self._config)]
        self._process = self._machine.start(*command, log="containerd.log")
        wait_for(self._responds, "containerd")

    def restart(self) -> None:
        """Kill containerd, and start it again. Its containers keep running."""
        for pid in self._machine.pids("containerd", "--config"):
            self._machine.run("kill", "-9", pid)
        if self._process is not None:
            self._process.wait()
        self.start()

    def load(self, archive: Path) -> None:
        """Load images for Pods from an OCI archive."""
        self._machine.run(self.program("ctr"), "--address", SOCKET, "-n", "k8s.io", "images", "import", str(archive))

    def program(self, name: str) -> str:
        """Return a program of containerd as it is called: `ctr`."""
        return str(self._programs / name) if self._programs else name

    def _responds(self) -> bool:
        command = [*self._machine.enter, self.program("ctr"), "--address", SOCKET, "version"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
