"""A machine: private mount, network, UTS and PID namespaces, and private /run, /var/lib, /var/log and /etc/cni.

The network and mounts of this machine are not touched. Killing the first process of the PID namespace ends everything
in it: containerd, shims, containers and nodes.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path

from tests.machines.waiting import wait_for

CGROUPS = Path("/sys/fs/cgroup")
_OWN = ("/run", "/var/lib", "/var/log", "/etc/cni")
"""Directories that each machine has for itself. Programs of this machine and all other files are shared."""
_START = """
set -e
mount --make-rshared /
umount /sys/fs/cgroup/unified 2>/dev/null || true
mkdir -p {root}/cgroup
mount --rbind /sys/fs/cgroup {root}/cgroup
mount -t sysfs sysfs /sys
mount --rbind {root}/cgroup /sys/fs/cgroup
for each in {own}; do
  mkdir -p "{root}$each" "$each"
  mount --bind "{root}$each" "$each"
done
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
hostname {name}
ip link set lo up
touch {root}/started
exec sleep infinity
"""


@dataclass
class Machine:
    """Running machine."""

    root: Path
    """Directory with its files. `root / "run"` is its /run, and so on."""
    name: str
    pid: int = 0
    """First process of its PID namespace."""
    started: "list[subprocess.Popen[bytes]]" = field(default_factory=list)
    """Programs that `start` has started."""
    inherited: "set[str]" = field(default_factory=set)
    """Mounts of this machine, which the other one has too."""
    process: "subprocess.Popen[bytes] | None" = None
    """Parent of its first process. Killing it ends the machine."""

    @property
    def enter(self) -> Sequence[str]:
        """Command that runs another command on the machine."""
        return ("nsenter", "-t", str(self.pid), "-m", "-n", "-u", "-p")

    @property
    def cgroup(self) -> str:
        """Cgroup of all containers."""
        return f"sampan-test-{hashlib.sha256(str(self.root).encode()).hexdigest()[:16]}"

    def run(self, *command: str) -> str:
        """Run a command that succeeds, and return its output."""
        done = subprocess.run([*self.enter, *command], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def output(self, *command: str) -> str:
        """Run a command that may fail, and return its output."""
        done = subprocess.run([*self.enter, *command], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout

    def start(self, *command: str, log: str) -> "subprocess.Popen[bytes]":
        """Start a program that runs until the machine ends. `log`: file for its output, in the machine's directory."""
        with (self.root / log).open("ab") as output:
            process = subprocess.Popen(
                [*self.enter, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def boot(self) -> None:
        """Start the machine: new namespaces on the files of its directory."""
        self.process = subprocess.Popen(
            [
                *("unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"),
                *("--propagation", "private", "bash", "-c"),
                _START.format(root=self.root, name=self.name, own=" ".join(_OWN)),
            ],
            start_new_session=True,
        )
        wait_for((self.root / "started").exists, "the namespaces")
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.pid = int(children[0])
        self.inherited = self.mounts()

    def lose_power(self) -> None:
        """End the machine at once. Processes, network devices, rules, mounts, cgroups and /run are gone; files stay."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        for each in self.started:
            each.wait()
        self.started.clear()
        _remove_cgroups(self.cgroup)
        (self.root / "started").unlink(missing_ok=True)
        shutil.rmtree(self.root / "run", ignore_errors=True)

    def program(self, name: str) -> str:
        """Write a program that runs another program on the machine, and return its path."""
        path = self.root / name
        path.write_text(f'#!/bin/sh\nexec {" ".join(self.enter)} {shutil.which(name)} "$@"\n')
        path.chmod(0o755)
        return str(path)

    def pids(self, *words: str) -> list[str]:
        """Return the processes whose command line has these words in a row, as the machine numbers them."""
        found = []
        for name in self.run("ls", "/proc").split():
            if name.isdecimal():
                line = self.output("cat", f"/proc/{name}/cmdline")
                found += [name] if "\0".join(words) in line else []
        return found

    def mounts(self) -> set[str]:
        """Return all mounts of the machine."""
        return set(self.run("cat", "/proc/self/mounts").splitlines())

    def left(self) -> list[str]:
        """Return what Pods have left: cgroups, network namespaces, mounts, addresses, files."""
        mounts = self.mounts() - self.inherited
        found = [line for line in mounts if "/pods/" in line or "cni-" in line or "/io.containerd.runtime" in line]
        found += [f"netns {name}" for name in self.run("ip", "netns", "list").split()]
        found += [f"link {line}" for line in self.run("ip", "-o", "link").splitlines() if ": veth" in line]
        found += [str(each) for each in CGROUPS.glob(f"*/{self.cgroup}/kubepods/*/pod*")]
        found += [str(each) for each in CGROUPS.glob(f"*/{self.cgroup}/kubepods/pod*")]
        # `Path.glob` fails if containerd removes a directory meanwhile.
        for pattern in ("**/pods/*-*-*-*-*", "**/addresses/sampan/1*"):
            found += glob(f"{self.root}/{pattern}", recursive=True, include_hidden=True)
        return found + [str(each) for each in self.root.glob("var/log/pods/*")]


@contextmanager
def machine(root: Path, name: str = "machine") -> Iterator[Machine]:
    """Run a machine with its files in a directory. At its end all its programs have ended.

    Its programs have separate sessions, so that Ctrl-C reaches only the caller, which ends them in order.
    """
    root.mkdir(parents=True, exist_ok=True)
    found = Machine(root, name)
    try:
        found.boot()
        yield found
    finally:
        found.lose_power()


def _remove_cgroups(name: str) -> None:
    """Remove the cgroups of containers that were killed. Their processes may need a moment to end."""

    def gone() -> bool:
        for parent in CGROUPS.glob(f"*/{name}"):
            for directory, _, _ in os.walk(parent, topdown=False):
                with suppress(OSError):
                    os.rmdir(directory)
        return not list(CGROUPS.glob(f"*/{name}"))

    wait_for(gone, "the end of all cgroups")
