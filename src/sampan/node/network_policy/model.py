"""`PolicyModel`: policies, namespaces and Pods, and the fragments of rules that follow from them. No I/O.

A change of one object only changes the parts that depend on it: that of a Pod changes elements, that of a policy its
chains and the sets that it uses.

Concurrency: `put_…` and `remove_…` only record changes. `apply` works on them, and yields often, so that its caller can
give way to other tasks. One task calls it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from sampan.component_base.nftables.fragment import EMPTY, ElementKey, Fragment
from sampan.component_base.nftables.table import BASE
from sampan.node.network_policy.pods import PodFacts, PodState
from sampan.node.network_policy.policy import DIRECTIONS, PodSelection, Policy
from sampan.node.network_policy.rules import (
    SELF,
    base_fragment,
    element,
    family_of,
    group_fragment,
    isolation,
    pods_fragment,
    policy_fragment,
    port_fragment,
)

_SLICE: Final = 200
"""Selections that are evaluated between two yields: less than a millisecond."""


@dataclass(slots=True)
class _Shared:
    """Something that several policies or Pods use: its name, and its users."""

    name: str
    users: set[str] = field(default_factory=set)


class PolicyModel:
    """Desired rules of a node."""

    def __init__(self) -> None:
        self.changed_policies: dict[str, Policy | None] = {}
        self.changed_namespaces: dict[str, Mapping[str, str] | None] = {}
        self.changed_pods: dict[str, PodFacts | None] = {}
        """By uid, as in the API server."""
        self.changed_protection: dict[str, PodFacts | None] = {}
        """By uid, as the node has set them up."""
        self.bridge = ""
        """Bridge of the node's Pods, on which every address must belong to a known Pod; empty for none."""
        self._policies: dict[str, Policy] = {}
        self._policies_in: dict[str, set[str]] = {}
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._pods: dict[str, PodState] = {}
        self._pods_in: dict[str, set[str]] = {}
        self._selections: dict[PodSelection, _Shared] = {}
        self._ports: dict[tuple[str, str], _Shared] = {}
        self._groups: dict[tuple[str, tuple[str, ...]], _Shared] = {}
        self._names: dict[str, str] = {}
        self._count = 0
        self._group_of: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}
        """Group of each isolated Pod, by uid and direction."""
        self._dirty_pods: set[str] = set()
        self._dirty_policies: set[str] = set()
        self._shared: dict[str, Fragment] = {}
        """Changed fragments of selections, ports and groups, by name."""
        self._written_bridge: str | None = None

    # ---- changes

    def apply(self) -> Iterator[None]:
        """Work on the recorded changes, and yield often. Changes that are recorded meanwhile are included."""
        while self.changed_policies or self.changed_namespaces or self.changed_pods or self.changed_protection:
            while self.changed_policies:
                key = next(iter(self.changed_policies))
                yield from self._change_policy(key, self.changed_policies.pop(key))
            while self.changed_namespaces:
                name = next(iter(self.changed_namespaces))
                yield from self._change_namespace(name, self.changed_namespaces.pop(name))
            for changes, attribute in ((self.changed_pods, "known"), (self.changed_protection, "protected")):
                while changes:
                    uid = next(iter(changes))
                    yield from self._change_pod(uid, attribute, changes.pop(uid))

    def take(self) -> Iterator[tuple[str, Fragment]]:
        """Yield owner and fragment of all parts that have changed since the last call. Nothing else may run `apply`
        meanwhile.
        """
        if self.bridge != self._written_bridge:
            self._written_bridge = self.bridge
            yield BASE, base_fragment(self.bridge)
        while self._dirty_policies:
            key = self._dirty_policies.pop()
            yield f"policy {key}", self._policy_fragment(key)
        while self._dirty_pods:
            uid = self._dirty_pods.pop()
            state = self._pods.get(uid)
            facts = state.facts if state is not None else None
            yield f"peer {uid}", EMPTY if state is None or facts is None else self._peer_fragment(state, facts)
            local = self._local_fragment(uid, state, facts)
            # Of two Pods with one address, the table takes the first in alphabetical order: the one that has it.
            has_address = state is not None and state.protected is not None
            yield f"local-1 {uid}", local if has_address else EMPTY
            yield f"local-2 {uid}", EMPTY if has_address else local
        # After the Pods, which decide which groups are in use.
        while self._shared:
            yield self._shared.popitem()

    def _change_policy(self, key: str, policy: Policy | None) -> Iterator[None]:
        before = self._policies.pop(key, None)
        namespace = key.partition("/")[0]
        if policy is not None:
            self._policies[key] = policy
            self._policies_in.setdefault(namespace, set()).add(key)
            self._name(key)
        elif before is not None:
            self._discard(self._policies_in, namespace, key)
        self._dirty_policies.add(key)
        yield from self._use_selections(key, before, policy)
        yield from self._use_ports(key, before, policy)
        for uid in list(self._pods_in.get(namespace, ())):
            state = self._pods.get(uid)
            if state is not None and (facts := state.facts) is not None and facts.is_local:
                self._isolate(uid, state, facts, [key])
                yield

    def _use_selections(self, key: str, before: Policy | None, after: Policy | None) -> Iterator[None]:
        old = before.peers() if before is not None else set()
        new = after.peers() if after is not None else set()
        for selection in new - old:
            shared = self._selections.get(selection)
            if shared is None:
                shared = self._selections[selection] = _Shared(self._new_name("pods"))
                self._shared[shared.name] = pods_fragment(shared.name)
                yield from self._select(selection, shared.name)
            shared.users.add(key)
        for selection in old - new:
            shared = self._selections[selection]
            shared.users.discard(key)
            if not shared.users:
                del self._selections[selection]
                self._shared[shared.name] = EMPTY
                for uid, state in self._pods.items():
                    if shared.name in state.peers:
                        state.peers.discard(shared.name)
                        self._dirty_pods.add(uid)
                yield

    def _select(self, selection: PodSelection, name: str) -> Iterator[None]:
        """Add the Pods of a new selection."""
        candidates = self._pods if selection.namespace is None else self._pods_in.get(selection.namespace, ())
        for number, uid in enumerate(list(candidates)):
            state = self._pods.get(uid)
            if state is not None and self._is_selected(selection, state):
                state.peers.add(name)
                self._dirty_pods.add(uid)
            if number % _SLICE == 0:
                yield

    def _is_selected(self, selection: PodSelection, state: PodState) -> bool:
        facts = state.facts
        return (
            facts is not None
            and state.is_peer
            and selection.selects(facts.namespace, self._namespaces.get(facts.namespace), facts.labels)
        )

    def _use_ports(self, key: str, before: Policy | None, after: Policy | None) -> Iterator[None]:
        old = before.port_names() if before is not None else set()
        new = after.port_names() if after is not None else set()
        for port in new - old:
            if port not in self._ports:
                shared = self._ports[port] = _Shared(self._new_name("port"))
                self._shared[shared.name] = port_fragment(shared.name)
                yield from self._port_changed(port)
            self._ports[port].users.add(key)
        for port in old - new:
            shared = self._ports[port]
            shared.users.discard(key)
            if not shared.users:
                self._shared[shared.name] = EMPTY
                del self._ports[port]
                yield from self._port_changed(port)

    def _port_changed(self, port: tuple[str, str]) -> Iterator[None]:
        for number, (uid, state) in enumerate(self._pods.items()):
            facts = state.known or state.protected
            if facts is not None and any(each[:2] == port for each in facts.named_ports):
                self._dirty_pods.add(uid)
            if number % _SLICE == 0:
                yield

    def _change_namespace(self, name: str, labels: Mapping[str, str] | None) -> Iterator[None]:
        if labels is None:
            self._namespaces.pop(name, None)
        else:
            self._namespaces[name] = labels
        for uid in list(self._pods_in.get(name, ())):
            yield from self._evaluate(uid)

    def _change_pod(self, uid: str, attribute: str, facts: PodFacts | None) -> Iterator[None]:
        state = self._pods.get(uid) or PodState()
        before = state.facts
        if attribute == "protected":
            state.is_released = facts is None and state.protected is not None
        setattr(state, attribute, facts)
        now = state.facts
        if now == before and attribute == "protected":
            return
        self._dirty_pods.add(uid)
        if now is None:
            if before is not None:
                del self._pods[uid]
                self._discard(self._pods_in, before.namespace, uid)
            return
        self._pods[uid] = state
        self._pods_in.setdefault(now.namespace, set()).add(uid)
        yield from self._evaluate(uid)
        if now.is_local:
            self._isolate(uid, state, now, self._policies_in.get(now.namespace, ()))

    def _evaluate(self, uid: str) -> Iterator[None]:
        """Find the selections that include a Pod."""
        state = self._pods.get(uid)
        if state is None:
            return
        found = set()
        for number, (selection, shared) in enumerate(list(self._selections.items())):
            if self._is_selected(selection, state):
                found.add(shared.name)
            if number % _SLICE == 0:
                yield
        if found != state.peers:
            state.peers = found
            self._dirty_pods.add(uid)

    def _isolate(self, uid: str, state: PodState, facts: PodFacts, keys: Iterable[str]) -> None:
        """Find which of these policies isolate a Pod of this node."""
        for key in list(keys):
            policy = self._policies.get(key)
            applies = policy is not None and policy.pods.matches(facts.labels)
            for direction in DIRECTIONS:
                policies = state.policies.setdefault(direction, set())
                if applies and policy is not None and direction in policy.permissions:
                    if key not in policies:
                        policies.add(key)
                        self._dirty_pods.add(uid)
                elif key in policies:
                    policies.remove(key)
                    self._dirty_pods.add(uid)

    # ---- fragments

    def _peer_fragment(self, state: PodState, facts: PodFacts) -> Fragment:
        elements: dict[ElementKey, str] = {}
        for address in facts.addresses:
            elements |= {element(name, address): "" for name in state.peers}
            for name, protocol, number in facts.named_ports:
                shared = self._ports.get((name, protocol))
                if shared is not None:
                    elements[element(shared.name, address, protocol.lower(), number)] = ""
        return Fragment(elements=elements)

    def _local_fragment(self, uid: str, state: PodState | None, facts: PodFacts | None) -> Fragment:
        elements: dict[ElementKey, str] = {}
        for direction in DIRECTIONS:
            verdict = self._verdict(uid, direction, state, facts)
            for address in facts.addresses if facts is not None and facts.is_local else ():
                elements[ElementKey(isolation(direction, family_of(address)), address)] = verdict
                elements[element(SELF, address, address)] = ""
        return Fragment(elements=elements)

    def _verdict(self, uid: str, direction: str, state: PodState | None, facts: PodFacts | None) -> str:
        policies = tuple(sorted(state.policies.get(direction, ()))) if state is not None else ()
        if facts is None or not facts.is_local or not policies:
            self._use_group(uid, direction, None)
            return "accept"
        return f"goto {self._use_group(uid, direction, policies)}-{direction}"

    def _use_group(self, uid: str, direction: str, policies: tuple[str, ...] | None) -> str:
        """Record which group of policies applies to a Pod, and return the group's name."""
        group = (direction, policies) if policies is not None else None
        before = self._group_of.get((uid, direction))
        if before is not None and before != group:
            del self._group_of[uid, direction]
            old = self._groups[before]
            old.users.discard(uid)
            if not old.users:
                del self._groups[before]
                self._shared[old.name] = EMPTY
        if group is None:
            return ""
        shared = self._groups.get(group)
        if shared is None:
            shared = self._groups[group] = _Shared(self._new_name("group"))
            self._shared[shared.name] = group_fragment(
                direction, shared.name, [(self._name(key), key) for key in group[1]]
            )
        shared.users.add(uid)
        self._group_of[uid, direction] = group
        return shared.name

    def _policy_fragment(self, key: str) -> Fragment:
        policy = self._policies.get(key)
        if policy is None:
            self._names.pop(key, None)
            return EMPTY
        return policy_fragment(
            self._name(key),
            policy,
            lambda selection: self._selections[selection].name,
            lambda name, protocol: self._ports[name, protocol].name,
        )

    # ---- names

    def _name(self, key: str) -> str:
        """Return the name of a policy in nftables. Names of Kubernetes can be too long for it."""
        if key not in self._names:
            self._names[key] = self._new_name("policy")
        return self._names[key]

    def _new_name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}-{self._count}"

    @staticmethod
    def _discard(index: dict[str, set[str]], name: str, value: str) -> None:
        index[name].discard(value)
        if not index[name]:
            del index[name]
