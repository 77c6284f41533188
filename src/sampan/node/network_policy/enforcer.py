"""`PolicyEnforcer`: keeps the kernel's table equal to the policies of the cluster, for the Pods of this node.

Concurrency: handlers of informers and the agent record changes. `run` applies them, and writes each group of changes
as one transaction in the table's thread. The rules stay when the agent ends.
Guarantees: `protect` returns when the rules of a Pod are in the kernel, and before that no container of it starts. The
first transaction comes after the first lists, and replaces the rules of an earlier agent in one step.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from sampan.component_base.netlink import receive
from sampan.component_base.nftables.errors import NftError
from sampan.component_base.nftables.foreign_changes import ForeignChanges
from sampan.component_base.nftables.rule_thread import RuleThread
from sampan.component_base.nftables.table import Table
from sampan.core.clock import monotonic
from sampan.core.event_loop.time_slices import TimeSlices
from sampan.core.label_selectors import EVERYTHING
from sampan.informer.ref import Ref
from sampan.node.network_policy.model import PolicyModel
from sampan.node.network_policy.pods import PodFacts, canonical
from sampan.node.network_policy.policy import DIRECTIONS, Policy, compiled
from sampan.node.network_policy.rules import TABLE
from sampan.node.network_policy.views import POLICY_VIEW, NetworkPolicy
from sampan.node.programs import run as run_program
from sampan.node.runtime import SandboxError
from sampan.node.views.pod import Pod
from sampan.wire.json import UNREADABLE

_log = logging.getLogger("sampan.node")

VERIFY_S: Final = 30.0
"""Period of the check that the table still exists. The kernel also reports changes of other programs."""
PROTECT_S: Final = 10.0
"""Time that a new Pod waits for its rules. After that the attempt to start it fails, and is repeated."""
BRIDGE_SYSCTLS: Final = ("bridge-nf-call-iptables", "bridge-nf-call-ip6tables")
_LARGE_BYTES: Final = 32 * 1024
_RETRY_FIRST_S: Final = 1.0
_RETRY_MAX_S: Final = 30.0
_REPAIR_PAUSE_S: Final = 0.2
_PAUSE_MAX_S: Final = 0.05


class PolicyEnforcer:
    """NetworkPolicies of one node. `run` can be called only once."""

    needs_leader_election = False

    def __init__(
        self,
        synced: Callable[[], Awaitable[None]],
        *,
        report: Callable[[str], None] = lambda problem: None,
        kernel: RuleThread | None = None,
    ) -> None:
        """`synced` waits for the first lists. `report` receives why policies are not enforced; empty if they are."""
        self.model = PolicyModel()
        self._synced = synced
        self._report = report
        self._kernel = kernel or RuleThread("sampan-netpol")
        self._table = Table(TABLE)
        self._foreign = ForeignChanges(TABLE.partition(" ")[2], self.changed)
        self._wake = asyncio.Event()
        self._done = asyncio.Condition()
        self._recorded = 0
        self._written = -1
        """Number of the recorded changes that are in the kernel."""
        self._problem = "the policies have not been read yet"
        self._protected: dict[str, tuple[PodFacts, int]] = {}
        """Pods of this node by uid, each with the number of the change that protects it."""
        self._policies: dict[str, Ref[NetworkPolicy] | None] = {}
        self._repaired = -_REPAIR_PAUSE_S

    def __str__(self) -> str:
        return "network policies"

    def changed(self) -> None:
        """Request a transaction, after a change of the model or of the kernel."""
        self._recorded += 1
        self._wake.set()

    def put_policy(self, key: str, policy: Ref[NetworkPolicy] | None) -> None:
        """Record a changed policy; None for a deleted one."""
        self._policies[key] = policy
        self.changed()

    def set_bridge(self, bridge: str) -> None:
        """Set the bridge of the node's Pods. Empty if another program connects them."""
        if bridge != self.model.bridge:
            self.model.bridge = bridge
            self.changed()

    async def protect(self, pod: Pod, addresses: Sequence[str]) -> None:
        """Wait until the rules of a Pod with these addresses are in the kernel. Raises `SandboxError`."""
        uid, facts = pod.metadata.uid, _facts(pod, addresses)
        if uid not in self._protected or self._protected[uid][0] != facts:
            self.model.changed_protection[uid] = facts
            self.changed()
            self._protected[uid] = facts, self._recorded
        try:
            async with asyncio.timeout(PROTECT_S):
                await self._until(self._protected[uid][1])
        except TimeoutError:
            text = f"the rules of NetworkPolicies are not in place: {self._problem or 'the node is busy'}"
            raise SandboxError("NetworkPolicyNotReady", text, retry_s=1.0) from None

    def release(self, uid: str) -> None:
        """Remove the rules of a Pod after its network was removed."""
        if self._protected.pop(uid, None) is not None:
            self.model.changed_protection[uid] = None
            self.changed()

    async def settled(self) -> None:
        """Wait until all changes so far are in the kernel."""
        await self._until(self._recorded)

    async def _until(self, number: int) -> None:
        async with self._done:
            await self._done.wait_for(lambda: self._written >= number)

    async def run(self) -> None:
        """Keep the rules until cancelled."""
        try:
            problem = await prepare_bridges()
            await self._synced()
            self.changed()
            async with asyncio.TaskGroup() as tasks:
                events = await self._kernel.rule_events()
                if events is not None:
                    tasks.create_task(self._receive(events), name="changes of rules")
                await self._follow(problem)
        finally:
            self._kernel.close()

    async def _receive(self, events: socket.socket) -> None:
        with events:
            await receive(events, self._foreign.take)

    async def _follow(self, problem: str) -> None:
        retry_s, verified = _RETRY_FIRST_S, monotonic()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(verified + VERIFY_S):
                    await self._wake.wait()
            if monotonic() >= verified + VERIFY_S:
                problem = await prepare_bridges()
                await self._verify()
                verified = monotonic()
            self._wake.clear()
            if self._foreign.any(await self._kernel.generation()):
                _log.warning("another program has changed the rules of NetworkPolicies: writing them again")
                self._table.failed()
                # Bounds the work if that program always reverts the change. The first repair is at once.
                await asyncio.sleep(max(0.0, self._repaired + _REPAIR_PAUSE_S - monotonic()))
                self._repaired = monotonic()
            began = monotonic()
            try:
                await self._write()
            except NftError as error:
                self._say(f"nftables refuses the rules of NetworkPolicies: {error}")
                await asyncio.sleep(retry_s)
                retry_s = min(_RETRY_MAX_S, retry_s * 2)
                self._wake.set()
                continue
            retry_s = _RETRY_FIRST_S
            self._say(problem)
            # A single change is written at once. During a flood, the pause collects more changes for a transaction.
            await asyncio.sleep(min(_PAUSE_MAX_S, monotonic() - began))

    async def _write(self) -> None:
        """Bring all recorded changes into the kernel. After a failure, the next call replaces the table."""
        number = self._recorded
        slices = TimeSlices()
        await self._read_policies()
        for _ in self.model.apply():
            await slices.give_way()
        for owner, fragment in self.model.take():
            self._table.put(owner, fragment)
            await slices.give_way()
        replaces_all = not self._table.is_known
        commands = await self._kernel.call(self._table.transaction)
        if commands:
            try:
                self._foreign.wrote(await self._kernel.write(commands), whole=replaces_all)
            except BaseException:
                self._table.failed()
                raise
        await self._kernel.call(self._table.written)
        async with self._done:
            self._written = max(self._written, number)
            self._done.notify_all()

    async def _read_policies(self) -> None:
        while self._policies:
            key = next(iter(self._policies))
            ref = self._policies.pop(key)
            if ref is not None and len(ref.raw) > _LARGE_BYTES:
                # Reading the largest policies takes a second. In this thread, because slow work on the volumes of Pods
                # can use all shared ones.
                self.model.changed_policies[key] = await self._kernel.call(partial(_read, ref))
            else:
                self.model.changed_policies[key] = None if ref is None else _read(ref)

    async def _verify(self) -> None:
        try:
            if not await self._kernel.has_table(TABLE):
                self._table.failed()
                self._wake.set()
        except NftError as error:
            _log.error("cannot list tables: %s", error)

    def _say(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            if problem:
                _log.error("NetworkPolicies are not enforced: %s", problem)
            else:
                _log.info("NetworkPolicies are enforced")
        self._report(problem)


async def remove_rules() -> None:
    """Remove the rules of an earlier agent. A machine without nftables has none."""
    kernel = RuleThread("sampan-netpol")
    try:
        await kernel.remove_table(TABLE)
    except NftError as error:
        _log.debug("cannot remove the rules of NetworkPolicies: %s", error)
    finally:
        kernel.close()


async def prepare_bridges(settings: Path = Path("/proc/sys/net/bridge")) -> str:
    """Let packets between Pods of this node, which the bridge forwards, pass the rules. Returns why they do not."""
    problem = _bridge_problem(settings)
    if problem:
        with suppress(OSError):
            await run_program("modprobe", "br_netfilter")
            problem = _bridge_problem(settings)
    return problem


def _bridge_problem(settings: Path) -> str:
    reason = "Pods of this node reach each other without rules"
    for name in BRIDGE_SYSCTLS:
        try:
            if (settings / name).read_text().strip() != "1":
                (settings / name).write_text("1")
        except FileNotFoundError:
            return f"{reason}: load the kernel's module br_netfilter"
        except OSError as error:
            return f"{reason}: set net.bridge.{name} to 1 ({error})"
    return ""


def _read(ref: Ref[NetworkPolicy]) -> Policy:
    """Return a policy. An unreadable one blocks no other one, and isolates all Pods of its namespace."""
    try:
        return compiled(POLICY_VIEW.decode(ref.raw))
    except (*UNREADABLE, AttributeError, TypeError) as error:  # The last two: selectors are JSON of any form.
        extra = {"key": ref.key, "error": str(error)}
        _log.error("unreadable NetworkPolicy: it permits nothing in its namespace", extra=extra)
        return Policy(ref.key, ref.namespace, EVERYTHING, dict.fromkeys(DIRECTIONS, ()))


def _facts(pod: Pod, addresses: Sequence[str]) -> PodFacts:
    sidecars = [each for each in pod.spec.init_containers if each.restart_policy == "Always"]
    ports = tuple(
        (port.name, port.protocol, port.container_port)
        for container in (*pod.spec.containers, *sidecars)
        for port in container.ports
        if port.name
    )
    return PodFacts(pod.metadata.namespace, pod.metadata.labels, ports, canonical(addresses), True)
