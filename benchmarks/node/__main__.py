"""`python -m benchmarks.node`: start and removal of Pods with containerd, memory and CPU of the node agent.

It needs root and Debian's packages for containers. Server, node and containerd run in new namespaces. Pods have one
container of busybox, and its image is on the node. Another client measures the times with a watch.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.cri import image
from tests.e2e.cri.processes import up_with_node
from tests.machines import Containerd, Lan, Machine, lan, missing, wait_for

from benchmarks.load import Figure
from benchmarks.report import machine, report
from benchmarks.scale.report import store, text_table
from benchmarks.scenarios import Scenario

RESULTS = Path(__file__).parents[1] / "results"
PREFIX = "node"
ONE = Scenario("one", "one Pod: create to Ready, median", None, 0, 1.0, unit=" s", lower_is_better=True)
MANY = Scenario("many", "all Pods: create to Ready", None, 0, 10.0, unit=" s", lower_is_better=True)
REMOVAL = Scenario("removal", "all Pods: delete to gone", None, 0, 8.0, unit=" s", lower_is_better=True)
RESIDENT = Scenario("resident", "memory of the loops and the agent", None, 0, 120.0, unit=" MB", lower_is_better=True)
IDLE = Scenario("idle", "CPU of the loops and the agent at rest", None, 0, 2.0, unit=" %", lower_is_better=True)
_TIMEOUT_S = 240.0
_SETTLE_S = 5.0
_TICKS = os.sysconf("SC_CLK_TCK")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all measurements. Return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.node", description=__doc__)
    parser.add_argument("--pods", type=int, default=30, help="Pods that start together (30)")
    parser.add_argument("--runs", type=int, default=5, help="Pods that start alone, one after the other (5)")
    parser.add_argument("--idle", type=float, default=30.0, help="seconds of rest that are measured (30)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    given = parser.parse_args(arguments)
    lacking = missing()
    if lacking:
        print(f"benchmarks.node: {lacking}", file=sys.stderr)
        return 2
    about = machine()
    with tempfile.TemporaryDirectory(prefix="sampan-node-") as name, lan(Path(name), ["machine"]) as network:
        figures = _measure(network, Path(name), given.pods, given.runs, given.idle)
        version = network.machines[0].run("containerd", "--version").split()[2]
    about |= {"pods": str(given.pods), "containerd": version}
    path = store(figures, about, given.results, kind=PREFIX, title="a node with containers")
    print(text_table(figures))
    report(f"stored in {path}")
    return 1 if any(figure.value > (scenario.goal or 0) for scenario, figure in figures.items()) else 0


def _measure(network: Lan, root: Path, pods: int, runs: int, idle_s: float) -> dict[Scenario, Figure]:
    found = network.machines[0]
    image.build(root / "images.tar")
    containerd = Containerd(found, image.PAUSE)
    containerd.start()
    containerd.load(root / "images.tar")
    up_with_node(found, data=root / "data")
    kubeconfig = root / "data" / "kubeconfig"
    wait_for(lambda: " Ready " in _sampan(found, kubeconfig, "nodes"), "the node", _TIMEOUT_S)
    wait_for(lambda: "default" in _sampan(found, kubeconfig, "serviceaccounts"), "the service account", _TIMEOUT_S)
    figures, times = {}, []
    for number in range(runs):
        report(f"one Pod, {number + 1} of {runs}")
        times.append(_seconds(found, kubeconfig, 1))
        _seconds(found, kubeconfig, 0)
    figures[ONE] = Figure(statistics.median(times))
    report(f"{pods} Pods")
    figures[MANY] = Figure(_seconds(found, kubeconfig, pods))
    time.sleep(_SETTLE_S)
    before = _cpu_s(found)
    report(f"at rest for {idle_s:.0f} s")
    time.sleep(idle_s)
    figures[IDLE] = Figure((_cpu_s(found) - before) / idle_s * 100)
    figures[RESIDENT] = Figure(_resident_mb(found))
    report("removal")
    figures[REMOVAL] = Figure(_seconds(found, kubeconfig, 0))
    return figures


def _seconds(found: Machine, kubeconfig: Path, create: int) -> float:
    """Create Pods, or delete all with 0, and return the seconds that it takes."""
    words = (sys.executable, "-m", "benchmarks.node.pods", f"--kubeconfig={kubeconfig}", f"--create={create}")
    # The machine has another working directory, so that Python would not find this package.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [*found.enter, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def _sampan(found: Machine, kubeconfig: Path, resource: str) -> str:
    return found.output(sys.executable, "-m", "sampan.cli", "get", resource, f"--kubeconfig={kubeconfig}")


def _loops(found: Machine) -> str:
    """Return the process of the loops and the agent."""
    [pid] = found.pids("-m", "sampan.cli", "loops")
    return f"/proc/{pid}"


def _cpu_s(found: Machine) -> float:
    fields = found.run("cat", f"{_loops(found)}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _resident_mb(found: Machine) -> float:
    lines = found.run("cat", f"{_loops(found)}/status").splitlines()
    [resident] = (line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return int(resident) / 1024


if __name__ == "__main__":
    sys.exit(main())
