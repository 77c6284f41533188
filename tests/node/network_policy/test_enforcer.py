"""The enforcer: when rules are written, and what waits for them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from sampan.component_base.nftables.errors import NftError
from sampan.component_base.nftables.rule_thread import RuleThread
from sampan.informer.ref import Ref
from sampan.node.network_policy import enforcer as module
from sampan.node.network_policy.enforcer import PolicyEnforcer
from sampan.node.network_policy.pods import PodFacts
from sampan.node.network_policy.policy import compiled
from sampan.node.network_policy.views import POLICY_VIEW, NetworkPolicy
from sampan.node.runtime import SandboxError
from sampan.node.views.pod import Pod
from sampan.resource import ObjectMeta
from tests.node.network_policy.interpreter import PolicyTable
from tests.node.network_policy.oracle import Connection

T = TypeVar("T")
ADDRESS = "10.1.0.5"
INCOMING = Connection("192.0.2.1", ADDRESS, "TCP", 80)
DENY = compiled(POLICY_VIEW.decode(b'{"metadata":{"name":"deny","namespace":"red"},"spec":{"podSelector":{}}}'))
LABELS = {"app": "web"}


class FakeKernel(RuleThread):
    """Kernel in memory. `gate` delays transactions, `fault` refuses them."""

    def __init__(self) -> None:
        self.table = PolicyTable()
        self.writes = 0
        self.fault = ""
        self.gate = asyncio.Event()
        self.gate.set()

    async def write(self, commands: str) -> range:
        await self.gate.wait()
        if self.fault:
            raise NftError(self.fault)
        self.table.run(commands)
        self.writes += 1
        return range(self.writes, self.writes + 1)

    async def generation(self) -> int:
        return self.writes

    async def rule_events(self) -> None:
        return None

    async def call(self, work: Callable[[], T]) -> T:
        return work()

    def close(self) -> None:
        pass


class Node:
    """A running enforcer and its kernel."""

    def __init__(self, kernel: FakeKernel, enforcer: PolicyEnforcer, lists: asyncio.Event) -> None:
        self.kernel, self.enforcer, self.lists = kernel, enforcer, lists
        self.problems: list[str] = []

    def put(self, **changes: Any) -> None:
        """Record changes of the model."""
        for name, change in changes.items():
            getattr(self.enforcer.model, f"changed_{name}").update(change)
        self.enforcer.changed()


@asynccontextmanager
async def node(monkeypatch: pytest.MonkeyPatch, *, synced: bool = True) -> AsyncIterator[Node]:
    """Run an enforcer. Its model has a policy that denies all connections to Pods of the namespace red."""

    async def no_bridges() -> str:
        return ""

    monkeypatch.setattr(module, "prepare_bridges", no_bridges)
    kernel, lists = FakeKernel(), asyncio.Event()
    problems: list[str] = []

    async def wait_for_lists() -> None:
        await lists.wait()

    enforcer = PolicyEnforcer(wait_for_lists, kernel=kernel, report=problems.append)
    found = Node(kernel, enforcer, lists)
    found.problems = problems
    found.put(policies={"red/deny": DENY}, namespaces={"red": {}})
    if synced:
        lists.set()
    running = asyncio.create_task(enforcer.run())
    try:
        yield found
    finally:
        running.cancel()
        await asyncio.wait({running})


def pod(labels: dict[str, str] = LABELS) -> Pod:
    return Pod(ObjectMeta(name="web", namespace="red", uid="u1", labels=labels))


def facts(labels: dict[str, str] = LABELS, *, local: bool = True) -> PodFacts:
    return PodFacts("red", labels, (), (ADDRESS,), local)


async def test_a_pod_is_protected_only_when_its_rules_are_in_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    async with node(monkeypatch) as found:
        await found.enforcer.settled()
        assert found.kernel.table.passes(INCOMING)
        found.kernel.gate.clear()
        protecting = asyncio.create_task(found.enforcer.protect(pod(), [ADDRESS]))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not protecting.done()
        found.kernel.gate.set()
        await protecting
        assert not found.kernel.table.passes(INCOMING)


async def test_repeated_protection_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with node(monkeypatch) as found:
        await found.enforcer.protect(pod(), [ADDRESS])
        before = found.kernel.writes
        await found.enforcer.protect(pod(), [ADDRESS])
        await found.enforcer.settled()
        assert found.kernel.writes == before


async def test_nothing_is_written_before_the_first_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROTECT_S", 0.01)
    async with node(monkeypatch, synced=False) as found:
        with pytest.raises(SandboxError, match="the policies have not been read yet"):
            await found.enforcer.protect(pod(), [ADDRESS])
        assert found.kernel.writes == 0
        found.lists.set()
        await found.enforcer.settled()
        assert found.kernel.writes == 1


async def test_a_pod_does_not_start_while_the_kernel_refuses_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RETRY_FIRST_S", 0.001)
    async with node(monkeypatch) as found:
        await found.enforcer.settled()
        found.kernel.fault = "Operation not permitted"
        monkeypatch.setattr(module, "PROTECT_S", 0.05)
        with pytest.raises(SandboxError, match=r"not in place: .*Operation not permitted") as refused:
            await found.enforcer.protect(pod(), [ADDRESS])
        assert refused.value.reason == "NetworkPolicyNotReady"
        assert "Operation not permitted" in found.problems[-1]
        found.kernel.fault = ""
        monkeypatch.setattr(module, "PROTECT_S", 60)
        await found.enforcer.protect(pod(), [ADDRESS])
        assert not found.kernel.table.passes(INCOMING)
        assert found.problems[-1] == ""


async def test_rules_stay_until_the_network_of_a_deleted_pod_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    async with node(monkeypatch) as found:
        await found.enforcer.protect(pod(), [ADDRESS])
        found.put(pods={"u1": facts()})
        await found.enforcer.settled()
        found.put(pods={"u1": None})  # As with `kubectl delete --force`: containers still end.
        await found.enforcer.settled()
        assert not found.kernel.table.passes(INCOMING)
        found.enforcer.release("u1")
        await found.enforcer.settled()
        assert found.kernel.table.passes(INCOMING)


async def test_the_pod_that_has_an_address_decides_over_an_older_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with node(monkeypatch) as found:
        # A Pod without a policy still has the address in the API server, but its network is gone.
        for uid in ("a-older", "z-older"):
            found.put(pods={uid: PodFacts("blue", {}, (), (ADDRESS,), True)})
        await found.enforcer.settled()
        assert found.kernel.table.passes(INCOMING)
        await found.enforcer.protect(pod(), [ADDRESS])
        assert not found.kernel.table.passes(INCOMING)


async def test_changed_labels_change_the_rules_of_a_running_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    allow = (
        b'{"metadata":{"name":"allow","namespace":"red"},'
        b'"spec":{"podSelector":{"matchLabels":{"app":"open"}},"ingress":[{}]}}'
    )
    async with node(monkeypatch) as found:
        found.put(policies={"red/allow": compiled(POLICY_VIEW.decode(allow))})
        await found.enforcer.protect(pod(), [ADDRESS])
        assert not found.kernel.table.passes(INCOMING)
        found.put(pods={"u1": facts({"app": "open"})})
        await found.enforcer.settled()
        assert found.kernel.table.passes(INCOMING)


@pytest.mark.parametrize(
    "unknown",
    [
        Connection("10.1.0.200", "192.0.2.1", "TCP", 80),
        Connection("192.0.2.1", "10.1.0.200", "TCP", 80),
        Connection("fe80::1", "fe80::2", "TCP", 80),
        Connection("fd00:1::200", "2001:db8::1", "TCP", 80),
    ],
)
async def test_packets_of_unknown_addresses_on_the_bridge_are_refused(
    monkeypatch: pytest.MonkeyPatch, unknown: Connection
) -> None:
    async with node(monkeypatch) as found:
        await found.enforcer.settled()
        assert found.kernel.table.passes(unknown)
        found.enforcer.set_bridge("sampan0")
        await found.enforcer.settled()
        assert not found.kernel.table.passes(unknown)
        assert found.kernel.table.passes(Connection("192.0.2.1", "192.0.2.2", "TCP", 80))
        found.put(policies={"red/deny": None})
        await found.enforcer.protect(pod(), ["10.1.0.200", "fe80::1", "fe80::2", "fd00:1::200"])
        assert found.kernel.table.passes(unknown)


async def test_changes_during_a_transaction_are_not_taken_for_written(monkeypatch: pytest.MonkeyPatch) -> None:
    async with node(monkeypatch) as found:
        await found.enforcer.settled()
        found.kernel.gate.clear()
        found.put(namespaces={"blue": {}}, policies={"blue/any": DENY})
        for _ in range(100):
            await asyncio.sleep(0)  # The transaction of the first change waits for the kernel.
        protecting = asyncio.create_task(found.enforcer.protect(pod(), [ADDRESS]))
        await asyncio.sleep(0)
        found.kernel.gate.set()
        await protecting
        assert not found.kernel.table.passes(INCOMING)


async def test_a_released_address_is_no_longer_that_of_the_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    async with node(monkeypatch) as found:
        found.put(pods={"u1": facts()})
        await found.enforcer.protect(pod(), [ADDRESS])
        assert not found.kernel.table.passes(INCOMING)
        found.enforcer.release("u1")  # The API server still has the Pod with its address.
        await found.enforcer.settled()
        assert found.kernel.table.passes(INCOMING)


async def test_a_pod_that_is_gone_from_the_server_is_no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    allow = (
        b'{"metadata":{"name":"allow","namespace":"red"},'
        b'"spec":{"podSelector":{},"ingress":[{"from":[{"podSelector":{"matchLabels":{"app":"client"}}}]}]}}'
    )
    client = Pod(ObjectMeta(name="client", namespace="red", uid="u2", labels={"app": "client"}))
    from_client = Connection("10.1.0.6", ADDRESS, "TCP", 80)
    async with node(monkeypatch) as found:
        found.put(policies={"red/allow": compiled(POLICY_VIEW.decode(allow))})
        await found.enforcer.protect(pod(), [ADDRESS])
        await found.enforcer.protect(client, ["10.1.0.6"])
        found.put(pods={"u2": PodFacts("red", {"app": "client"}, (), ("10.1.0.6",), True)})
        await found.enforcer.settled()
        assert found.kernel.table.passes(from_client)
        found.put(pods={"u2": None})
        await found.enforcer.settled()
        assert not found.kernel.table.passes(from_client)


def stored(spec: str, key: str = "blue/stored") -> Ref[NetworkPolicy]:
    """Return a policy of a cache."""
    namespace, _, name = key.partition("/")
    raw = f'{{"metadata":{{"name":"{name}","namespace":"{namespace}"}},"spec":{spec}}}'
    return Ref(POLICY_VIEW, key, "u", "1", 1, {}, raw.encode())


@pytest.mark.parametrize(
    "spec",
    [
        '{"podSelector":{},"ingress":[null,{}]}',
        '{"podSelector":{"matchExpressions":[null]},"ingress":[{}]}',
        '{"podSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]},"ingress":[{}]}',
        "5",
    ],
    ids=["null rule", "null expression", "unknown operator", "number"],
)
async def test_an_unreadable_policy_permits_nothing(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    async with node(monkeypatch) as found:
        found.put(namespaces={"blue": {}}, pods={"u2": PodFacts("blue", LABELS, (), (ADDRESS,), True)})
        await found.enforcer.settled()
        assert found.kernel.table.passes(INCOMING)
        ref = stored(spec)
        found.enforcer.put_policy(ref.key, ref)
        await found.enforcer.settled()
        assert not found.kernel.table.passes(INCOMING)


async def test_a_large_policy_needs_no_shared_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_thread(*work: object) -> None:
        raise AssertionError("all shared threads are busy")

    monkeypatch.setattr(asyncio, "to_thread", no_thread)
    peers = ",".join(f'{{"podSelector":{{"matchLabels":{{"app":"a{number}"}}}}}}' for number in range(1000))
    async with node(monkeypatch) as found:
        found.put(namespaces={"blue": {}}, pods={"u2": PodFacts("blue", LABELS, (), (ADDRESS,), True)})
        ref = stored(f'{{"podSelector":{{}},"ingress":[{{"from":[{peers}]}}]}}')
        found.enforcer.put_policy(ref.key, ref)
        async with asyncio.timeout(60):
            await found.enforcer.settled()
        assert not found.kernel.table.passes(INCOMING)
