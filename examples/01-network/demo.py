"""`make demo`: run a server, Neutron and the operator, and show each step.

    python demo.py [--style operator|controller_lowlevel] [--keep] [--stay]      (from examples/01-network)

At the end a Deployment is broken, for the dashboard. In a terminal, or with --stay, everything runs until Ctrl-C.
All data is in a temporary directory, which is deleted at the end unless --keep is given.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openstack

from neutron_server.launch import Neutron

HERE = Path(__file__).parent
TIMEOUT_S = 60.0
BROKEN_IMAGE = "registry.invalid/portal:1.1"
"""Image that no node can pull, because no registry has this name."""


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


@contextlib.contextmanager
def process(name: str, log: Path, *command: str, environment: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """Run a process during the block, with its stderr in the log."""
    with log.open("a") as stderr:
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=HERE, env=environment)
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            print(f"{name} does not end; killing it; see {log}", file=sys.stderr)
            started.kill()
            started.wait()


class Demo:
    """Commands of the demo."""

    def __init__(self, environment: dict[str, str], neutron: Neutron) -> None:
        self._environment = environment
        connection = openstack.connect(
            auth_type="none", endpoint=neutron.url, load_yaml_config=False, load_envvars=False
        )
        self.neutron = connection.network
        kubectl = shutil.which("kubectl")
        self._name = "kubectl" if kubectl else "sampan"
        self._command = [kubectl] if kubectl else [sys.executable, "-m", "sampan.cli"]

    def kubectl(self, *arguments: str, check: bool = True) -> None:
        """Run kubectl, or `sampan` if kubectl is not installed."""
        print(f"$ {self._name} {' '.join(arguments)}", flush=True)
        subprocess.run([*self._command, *arguments], check=check, env=self._environment, cwd=HERE)

    def apply(self, gateway: str, *, check: bool = True) -> None:
        """Apply the manifest with another gateway."""
        text = (HERE / "network.yaml").read_text().replace("192.168.0.1", gateway)
        print(f"$ sed s/192.168.0.1/{gateway}/ network.yaml | {self._name} apply -f -", flush=True)
        command = [*self._command, "apply", "-f", "-"]
        subprocess.run(command, check=check, env=self._environment, cwd=HERE, input=text, text=True)

    def networks(self) -> list[Any]:
        """Print and return the networks in Neutron."""
        found = list(self.neutron.networks())
        for each in found:
            subnets = [f"{subnet.cidr} via {subnet.gateway_ip}" for subnet in self.neutron.subnets(network_id=each.id)]
            print(f"  Neutron: {each.name} {each.id} {subnets}")
        if not found:
            print("  Neutron: no networks")
        return found

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait until a condition is true. Raises `TimeoutError`."""
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > TIMEOUT_S:
                raise TimeoutError(f"not within {TIMEOUT_S:g} s: {what}")
            time.sleep(0.2)
        print(f"  {what} ({time.monotonic() - began:.1f} s)")

    def show(self) -> None:
        """Run all steps."""
        heading("Declare the kind and an object")
        self.kubectl("apply", "-f", "crds/samplecrd.k8s.io_networks.yaml")
        self.kubectl("wait", "--for=condition=Established", "crd/networks.samplecrd.k8s.io")
        self.kubectl("apply", "-f", "network.yaml")
        heading("The operator creates the network in Neutron")
        self.kubectl("wait", "--for=condition=Ready", "network/example-network", "--timeout=60s")
        self.kubectl("get", "networks", "-o", "wide")
        [network] = self.networks()
        heading("Delete it in Neutron: the operator repairs the drift")
        self.neutron.delete_network(network.id)
        self.until("the network exists again", lambda: bool(list(self.neutron.subnets())))
        self.networks()
        heading("Change the gateway in place")
        self.apply("192.168.0.254")
        self.until("the gateway has changed", lambda: self._gateways() == ["192.168.0.254"])
        heading("The server refuses a gateway outside of the CIDR")
        self.apply("10.0.0.1", check=False)
        heading("The object's Events")
        self.kubectl("describe", "network", "example-network")
        heading("Delete the object, and the network with it")
        self.kubectl("delete", "network", "example-network")
        self.networks()

    def break_portal(self) -> None:
        """Run a Deployment, then change its image to one that does not exist."""
        heading("A Deployment runs, and an update breaks it")
        self.kubectl("apply", "-f", "network.yaml", "-f", "portal.yaml")
        self.kubectl("wait", "--for=condition=Available", "deployment/portal", "--timeout=60s")
        time.sleep(1)  # Kubernetes' times have no fractions: the update comes after the creation
        change = f'{{"spec":{{"template":{{"spec":{{"containers":[{{"name":"portal","image":"{BROKEN_IMAGE}"}}]}}}}}}}}'
        self.kubectl("patch", "deployment", "portal", "--patch", change)

    def _gateways(self) -> list[str]:
        return [subnet.gateway_ip for subnet in self.neutron.subnets()]


def stay(page: str) -> None:
    """Show the link of the dashboard, and wait for Ctrl-C."""
    heading("Find on the page why the Deployment portal is not ready")
    print(page.removeprefix("dashboard ").strip())
    print("Ctrl-C ends the demo")
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()


def run(folder: Path, style: str, *, stays: bool) -> None:
    """Start all processes, run the steps, and end all processes. `stays`: only after Ctrl-C."""
    environment = {**os.environ, "KUBECONFIG": str(folder / "server" / "kubeconfig"), "PYTHONWARNINGS": "ignore"}
    server = [sys.executable, "-m", "sampan.cli", "up", "--data", str(folder / "server"), "--port", "0"]
    neutron = Neutron(folder / "neutron")
    operator = [sys.executable, "-m", f"network_operator.{style}", "--neutron", neutron.url, "--recheck", "2"]
    with contextlib.ExitStack() as everything:
        heading("Server")
        up = everything.enter_context(process("the server", folder / "server.log", *server, environment=environment))
        assert up.stdout is not None
        print(up.stdout.readline(), end="")
        page = up.stdout.readline()
        heading("Neutron (its first installation takes about a minute and 350 MB)")
        everything.callback(neutron.kill)
        began = time.monotonic()
        print("starting; its database is created first", flush=True)
        neutron.start()
        print(f"ready {neutron.url} after {time.monotonic() - began:.0f} s")
        demo = Demo(environment, neutron)
        heading(f"Operator ({style})")
        demo.kubectl("apply", "-f", "crds/samplecrd.k8s.io_networks.yaml")
        everything.enter_context(process("the operator", folder / "operator.log", *operator, environment=environment))
        print(f"log: {folder / 'operator.log'}")
        demo.show()
        demo.break_portal()
        if stays:
            stay(page)


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--style", choices=["operator", "controller_lowlevel"], default="operator")
    parser.add_argument("--keep", action="store_true", help="keep the directory with logs and data")
    parser.add_argument("--stay", action="store_true", default=sys.stdout.isatty(), help="run until Ctrl-C")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sampan-demo-"))
    try:
        run(folder, given.style, stays=given.stay)
    finally:
        if given.keep:
            print(f"\nkept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
