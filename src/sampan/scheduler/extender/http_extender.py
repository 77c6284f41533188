"""`HttpExtender`: one service that is asked over HTTP.

Source: pkg/scheduler/extender.go, staging kube-scheduler extender/v1/types.go (1.36): the fields have Go's names, and
are read in any case.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from sampan.client.errors import ClientError
from sampan.client.http.tls import TlsOptions
from sampan.client.transport import HttpRequest, Transport
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.preemption.candidate import Candidate
from sampan.wire.json import UNREADABLE

MAX_EXTENDER_PRIORITY: Final = 10


class ExtenderError(ClientError):
    """An extender cannot be reached, or answers with an error."""


@dataclass(frozen=True, slots=True)
class ExtenderConfig:
    """How an extender is asked. A verb that is empty is not asked for."""

    url_prefix: str
    filter_verb: str = ""
    prioritize_verb: str = ""
    bind_verb: str = ""
    preempt_verb: str = ""
    weight: int = 1
    """What its scores, 0 to 10, count."""
    timeout_s: float = 5.0
    node_cache_capable: bool = False
    """It knows the Nodes: names are enough."""
    managed_resources: frozenset[str] = frozenset()
    """It is asked about Pods that ask for one of these; empty: about all."""
    ignored_resources: frozenset[str] = frozenset()
    """Those that no filter of the scheduler looks at."""
    ignorable: bool = False
    """Pods are scheduled without it when it fails."""
    tls: TlsOptions = field(default_factory=TlsOptions)


@dataclass(frozen=True, slots=True)
class Objects:
    """Where the whole objects are that extenders are told: their JSON by key or name."""

    pod: Callable[[str], bytes | None]
    node: Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class Filtered:
    """What is left, and why the others are not."""

    names: frozenset[str]
    failed: Mapping[str, str]
    unresolvable: Mapping[str, str]


class HttpExtender:
    """Asks. Every method raises `ExtenderError`."""

    def __init__(self, config: ExtenderConfig, transport: Transport, objects: Objects) -> None:
        """`transport` leads to the prefix of the URL."""
        self.config = config
        self._transport = transport
        self._objects = objects

    def __str__(self) -> str:
        return f"extender {self.config.url_prefix}"

    async def aclose(self) -> None:
        """Close the connections to it."""
        await self._transport.aclose()

    def is_interested(self, pod: PodInfo) -> bool:
        """Whether it is asked about a Pod."""
        managed = self.config.managed_resources
        return not managed or any(resource in managed for resource, _ in pod.constraints.requests)

    async def filter(self, pod: PodInfo, names: Sequence[str]) -> Filtered:
        """Which of these Nodes it lets a Pod have."""
        answer = await self._ask(self.config.filter_verb, self._arguments(pod, names))
        if answer.get("error"):
            raise ExtenderError(str(answer["error"]))
        left: Iterable[str] = ()
        if self.config.node_cache_capable and answer.get("nodenames") is not None:
            left = answer["nodenames"]
        elif answer.get("nodes") is not None:
            left = (node["metadata"]["name"] for node in answer["nodes"].get("items") or ())
        remaining = frozenset(left)
        if not remaining <= set(names):
            unknown = ", ".join(sorted(remaining.difference(names)))
            raise ExtenderError(f"{self} claims filtered nodes that it was not asked about: {unknown}")
        return Filtered(remaining, answer.get("failednodes") or {}, answer.get("failedandunresolvablenodes") or {})

    async def prioritize(self, pod: PodInfo, names: Sequence[str]) -> dict[str, int]:
        """Its scores, 0 to 10, by Node."""
        answer = await self._ask(self.config.prioritize_verb, self._arguments(pod, names))
        return {each["host"]: int(each["score"]) for each in map(_lowered, answer)}

    async def bind(self, pod: PodInfo) -> None:
        """Have it bind a Pod to its Node."""
        names = {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": pod.node_name}
        answer = await self._ask(self.config.bind_verb, names)
        if answer.get("error"):
            raise ExtenderError(str(answer["error"]))

    async def preempt(self, pod: PodInfo, candidates: Sequence[Candidate], nodes: NodeTable) -> list[Candidate]:
        """The Nodes, with the victims, that it agrees to."""
        arguments: dict[str, Any] = {"Pod": self._pod(pod)}
        whole = not self.config.node_cache_capable
        arguments["NodeNameToVictims" if whole else "NodeNameToMetaVictims"] = {
            each.node_name: {
                "Pods": [self._pod(victim) if whole else {"UID": victim.uid} for victim in each.victims],
                "NumPDBViolations": each.violations,
            }
            for each in candidates
        }
        answer = await self._ask(self.config.preempt_verb, arguments)
        known = {each.node_name: each for each in candidates}
        agreed: list[Candidate] = []
        for node_name, said in (answer.get("nodenametometavictims") or {}).items():
            row = nodes.row_of(node_name)
            there = {} if row is None else nodes.pods[row]
            victims = _lowered(said)
            uids = [_lowered(each).get("uid", "") for each in victims.get("pods") or ()]
            if node_name not in known or not uids or any(uid not in there for uid in uids):
                raise ExtenderError(f"{self} claims victims on node {node_name} that are not there")
            violations = int(victims.get("numpdbviolations") or 0)
            pods = tuple(there[uid] for uid in uids)
            agreed.append(replace(known[node_name], victims=pods, violations=violations))
        return agreed

    def _arguments(self, pod: PodInfo, names: Sequence[str]) -> dict[str, Any]:
        if self.config.node_cache_capable:
            return {"Pod": self._pod(pod), "Nodes": None, "NodeNames": list(names)}
        found = (self._objects.node(name) for name in names)
        items = [msgspec.Raw(raw) for raw in found if raw is not None]
        return {"Pod": self._pod(pod), "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}

    def _pod(self, pod: PodInfo) -> msgspec.Raw:
        raw = self._objects.pod(pod.key)
        if raw is None:
            raise ExtenderError(f"pod {pod.key} is gone")
        return msgspec.Raw(raw)

    async def _ask(self, verb: str, arguments: Mapping[str, Any]) -> Any:
        headers = {"content-type": "application/json", "accept": "application/json"}
        body = msgspec.json.encode(arguments)
        response = await self._transport.send(
            HttpRequest("POST", f"/{verb}", headers, body, timeout_s=self.config.timeout_s)
        )
        try:
            answer = await response.read()
        finally:
            await response.aclose()
        if response.status != 200:
            raise ExtenderError(f"failed {verb} with extender at URL {self.config.url_prefix}, code {response.status}")
        try:
            decoded = msgspec.json.decode(answer)
        except UNREADABLE as error:
            raise ExtenderError(f"{self} answers what is no JSON: {error}") from None
        return _lowered(decoded) if isinstance(decoded, dict) else decoded


def _lowered(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name.lower(): value for name, value in fields.items()}
