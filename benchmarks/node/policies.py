"""`python -m benchmarks.node.policies`: NetworkPolicies of a node, from the event to the rules in the kernel.

It needs root and nftables. The enforcer runs in this process, in a new network namespace, and gets generated objects as
its informers would pass them. All Pods of the first measurements are on its node, which is the worst case.
"""

import argparse
import asyncio
import ctypes
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
import uvloop

from benchmarks.load import Figure
from benchmarks.report import machine, report
from benchmarks.scale.report import store, text_table
from benchmarks.scenarios import Scenario
from sampan.component_base.nftables.rule_thread import RuleThread
from sampan.informer.ref import RefReader
from sampan.node.network_policy.enforcer import PolicyEnforcer
from sampan.node.network_policy.pods import facts_of
from sampan.node.network_policy.views import POLICY_POD_VIEW, POLICY_VIEW, without_the_rest
from sampan.resource import Object

RESULTS = Path(__file__).parents[1] / "results"
PREFIX = "node-policies"
NODE = "node-a"
NAMESPACES = 20
OTHER_PODS = 10_000
CLONE_NEWNET = 0x40000000
ALL = Scenario("all", "rules of all Pods and policies", None, 0, 2.0, unit=" s", lower_is_better=True)
POD = Scenario("pod", "a Pod is added", None, 0, 100.0, unit=" ms", lower_is_better=True)
LABEL = Scenario("label", "a label of a Pod changes", None, 0, 100.0, unit=" ms", lower_is_better=True)
POLICY = Scenario("policy", "a policy is edited", None, 0, 100.0, unit=" ms", lower_is_better=True)
SPACE = Scenario("namespace", "a label of a namespace changes", None, 0, 100.0, unit=" ms", lower_is_better=True)
MEMORY = Scenario("memory", "memory of 10,000 Pods of other nodes", None, 0, 60.0, unit=" MB", lower_is_better=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all measurements. Return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.node.policies", description=__doc__)
    parser.add_argument("--pods", type=int, default=1000, help="Pods of the node (1000)")
    parser.add_argument("--policies", type=int, default=100, help="policies (100)")
    parser.add_argument("--changes", type=int, default=50, help="changes of each kind (50)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    given = parser.parse_args(arguments)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(Bench().measure(given.pods, given.policies, given.changes))
    about = machine() | {"pods": f"{given.pods:,}", "policies": f"{given.policies:,}"}
    path = store(figures, about, given.results, kind=PREFIX, title="NetworkPolicies of a node")
    print(text_table(figures))
    report(f"stored in {path}")
    return 1 if any(figure.value > (scenario.goal or 0) for scenario, figure in figures.items()) else 0


class Bench:
    """An enforcer with generated objects."""

    def __init__(self) -> None:
        async def synced() -> None:
            return

        self._enforcer = PolicyEnforcer(synced, kernel=RuleThread("bench", enter=_own_network))
        self._policies = RefReader(POLICY_VIEW)
        self._pods = RefReader(POLICY_POD_VIEW, transform=without_the_rest)
        self._cache: dict[str, object] = {}
        """Objects as the informers keep them."""

    async def measure(self, pods: int, policies: int, changes: int) -> dict[Scenario, Figure]:
        """Write the rules of all objects, then change single ones."""
        for number in range(NAMESPACES):
            self._namespace(number)
        for number in range(pods):
            self._pod(_pod(number, NODE))
        for number in range(policies):
            self._policy(_policy(number, 8080))
        began = time.perf_counter()
        running = asyncio.create_task(self._enforcer.run())
        await self._enforcer.settled()
        figures = {ALL: Figure(time.perf_counter() - began, note=f"{pods:,} Pods, {policies:,} policies")}
        figures[POD] = await self._each(changes, lambda number: self._pod(_pod(pods + number, NODE)))
        figures[LABEL] = await self._each(changes, lambda number: self._pod(_pod(number, NODE, tier="changed")))
        figures[POLICY] = await self._each(changes, lambda number: self._policy(_policy(number, 9090, tier="data")))
        figures[SPACE] = await self._each(
            min(changes, NAMESPACES), lambda number: self._namespace(number, stage="changed")
        )
        before = _resident_mb()
        for number in range(OTHER_PODS):
            self._pod(_pod(pods + 1000 + number, "node-b"))
            if number % 100 == 0:
                await asyncio.sleep(0)
        await self._enforcer.settled()
        figures[MEMORY] = Figure(_resident_mb() - before)
        running.cancel()
        await asyncio.wait({running})
        return figures

    async def _each(self, changes: int, change: Callable[[int], None]) -> Figure:
        took = [await _ms(self._enforcer.settled, change, number) for number in range(changes)]
        cuts = statistics.quantiles(took, n=100)
        return Figure(statistics.median(took), p50_ms=cuts[49], p99_ms=cuts[98], note=f"p99 {cuts[98]:.1f} ms")

    def _policy(self, policy: Object) -> None:
        ref = self._policies.read(msgspec.json.encode(policy))
        self._cache[ref.key] = ref
        self._enforcer.put_policy(ref.key, ref)

    def _pod(self, pod: Object) -> None:
        ref = self._pods.read(msgspec.json.encode(pod))
        self._cache[ref.key] = ref
        self._enforcer.model.changed_pods[ref.uid] = facts_of(ref.decode(), NODE, ref.labels)
        self._enforcer.changed()

    def _namespace(self, number: int, stage: str = "test") -> None:
        labels = {"kubernetes.io/metadata.name": f"n{number}", "stage": stage, "team": f"t{number % 4}"}
        self._enforcer.model.changed_namespaces[f"n{number}"] = labels
        self._enforcer.changed()


async def _ms(settled: Callable[[], Awaitable[None]], change: Callable[[int], None], number: int) -> float:
    """Return the milliseconds from a change to its rules. Changes have a pause, so that each is written separately."""
    await asyncio.sleep(0.06)
    began = time.perf_counter()
    change(number)
    await settled()
    return (time.perf_counter() - began) * 1000


def _pod(number: int, node: str, tier: str = "") -> Object:
    """Return a Pod with the fields that most Pods have."""
    labels = {"app": f"app-{number % 25}", "tier": tier or ("web", "data", "cache")[number % 3], "number": str(number)}
    address = f"10.{128 + number // 65536}.{number // 256 % 256}.{number % 256}"
    container = {
        "name": "main",
        "image": "registry.example.com/team/application:1.2.3",
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [{"name": f"VARIABLE_{each}", "value": "value of some length"} for each in range(10)],
    }
    return {
        "metadata": {"name": f"pod-{number}", "namespace": f"n{number % NAMESPACES}", "uid": f"uid-{number}"}
        | {"labels": labels, "resourceVersion": "1"},
        "spec": {"nodeName": node, "containers": [container]},
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}, {"ip": f"fd00::{number:x}"}]},
    }


def _policy(number: int, port: int, tier: str = "web") -> Object:
    """Return a policy as applications have: ingress from Pods and namespaces, egress to Pods, DNS and a network."""
    peers = [
        {"podSelector": {"matchLabels": {"tier": tier}}},
        {"namespaceSelector": {"matchLabels": {"team": f"t{number % 4}"}}, "podSelector": {}},
        {"namespaceSelector": {"matchExpressions": [{"key": "stage", "operator": "Exists"}]}}
        | {"podSelector": {"matchLabels": {"app": f"app-{number % 25}"}}},
    ]
    dns = {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53}]}
    block = {"to": [{"ipBlock": {"cidr": "192.0.2.0/24", "except": ["192.0.2.128/25"]}}]}
    return {
        "metadata": {"name": f"policy-{number}", "namespace": f"n{number % NAMESPACES}", "resourceVersion": "1"},
        "spec": {
            "podSelector": {"matchLabels": {"app": f"app-{number % 25}"}} if number % 5 else {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": peers, "ports": [{"port": port}, {"port": "http"}]}],
            "egress": [{"to": peers, "ports": [{"port": port, "endPort": port + 9}]}, dns, block],
        },
    }


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _own_network() -> None:
    # Of this thread only: the rules must not change those of the machine.
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")


if __name__ == "__main__":
    sys.exit(main())
