"""`sampan up`, `sampan join` and kubectl on machines."""

import subprocess
import sys
from pathlib import Path

from tests.e2e.kubectl import Kubectl
from tests.machines import Machine

SAMPAN = (sys.executable, "-m", "sampan.cli")


def up(machine: Machine, address: str, *options: str, data: Path, storage: str = "memory") -> "subprocess.Popen[bytes]":
    """Start a server, and wait until it is ready. Its log is `sampan.log` in the machine's directory.

    `address`: to listen on; empty for the default.
    """
    command = [*SAMPAN, "up", "--data", str(data), "--port", "6443", "--storage", storage, *options]
    command += ["--bind", address] if address else []
    words = [*machine.enter, *command]
    with (machine.root / "sampan.log").open("a") as log:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, start_new_session=True)
    machine.started.append(process)
    assert process.stdout is not None
    with process.stdout as lines:
        assert lines.readline().startswith(b"ready"), (machine.root / "sampan.log").read_text()
    return process


def up_with_node(machine: Machine, *, data: Path) -> "subprocess.Popen[bytes]":
    """Start a server with a node for containers."""
    options = ["--node-runtime", "cri", "--service-proxy", "--cgroup-root", f"/{machine.cgroup}"]
    return up(machine, "", *options, data=data)


def join_command(machine: Machine, data: Path) -> list[str]:
    """Return the words of the command with which machines join, as `sampan token create` prints it."""
    kubeconfig = f"--kubeconfig={data / 'kubeconfig'}"
    return machine.run(*SAMPAN, "token", "create", "--print-join-command", kubeconfig).split()


def join(machine: Machine, command: list[str], *options: str) -> "subprocess.Popen[bytes]":
    """Start a node for containers that joins a cluster. Its log is `sampan.log` in the machine's directory."""
    words = [*SAMPAN, *command[1:], "--runtime", "cri", "--service-proxy"]
    words += ["--root", "/var/lib/sampan", "--cgroup-root", f"/{machine.cgroup}", *options]
    return machine.start(*words, log="sampan.log")


def kubectl_on(machine: Machine, kubeconfig: Path) -> Kubectl:
    """Return kubectl that runs on a machine."""
    home = machine.root / "home"
    home.mkdir()
    environment = {"KUBECONFIG": str(kubeconfig), "HOME": str(home), "PATH": "/usr/bin:/bin"}
    return Kubectl(machine.program("kubectl"), environment, "default")
