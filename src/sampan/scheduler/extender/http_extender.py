"""`HttpExtender`: client of one extender over HTTP.

Fields of the JSON have Go's names and are read in any letter case.
Source: pkg/scheduler/extender.go, staging kube-scheduler extender/v1/types.go (1.36).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from sampan.client.errors import ClientError
from sampan.client.transport import HttpRequest, Transport
from sampan.http.client.tls import TlsOptions
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.preemption.candidate import Candidate
from sampan.wire.json import UNREADABLE

MAX_EXTENDER_PRIORITY: Final = 10


class ExtenderError(ClientError):
    """An extender is unreachable or returned an error."""


@dataclass(frozen=True, slots=True)
class ExtenderConfig:
    """Configuration of an extender. An empty verb means that the extender does not support the operation."""

    url_prefix: str
    filter_verb: str = ""
    prioritize_verb: str = ""
    bind_verb: str = ""
    preempt_verb: str = ""
    weight: int = 1
    """Factor for the extender's scores, which are from 0 to 10."""
    timeout_s: float = 5.0
    node_cache_capable: bool = False
    """True if the extender caches Nodes, so that requests contain only their names."""
    managed_resources: frozenset[str] = frozenset()
    """The extender handles only Pods that request one of these resources; empty: all Pods."""
    ignored_resources: frozenset[str] = frozenset()
    """Resources that the scheduler's own filters ignore."""
    ignorable: bool = False
    """True if failures of the extender do not prevent scheduling."""
    tls: TlsOptions = field(default_factory=TlsOptions)


@dataclass(frozen=True, slots=True)
class ObjectReaders:
    """Functions that return the complete objects for requests, as JSON, by key or name."""

    pod: Callable[[str], bytes | None]
    node: Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class Filtered:
    """The Nodes that passed, and the reasons for rejected ones."""

    names: frozenset[str]
    failed: Mapping[str, str]
    unresolvable: Mapping[str, str]


class HttpExtender:
    """Sends requests to one extender. Every method raises `ExtenderError`."""

    def __init__(self, config: ExtenderConfig, transport: Transport, objects: ObjectReaders) -> None:
        """Create the client; `transport` sends requests to the extender's URL prefix."""
        self.config = config
        self._transport = transport
        self._objects = objects

    def __str__(self) -> str:
        return f"extender {self.config.url_prefix}"

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    def is_interested(self, pod: PodInfo) -> bool:
        """Return True if the extender handles a Pod."""
        managed = self.config.managed_resources
        return not managed or any(resource in managed for resource, _ in pod.constraints.requests)

    async def filter(self, pod: PodInfo, names: Sequence[str]) -> Filtered:
        """Return the Nodes that the extender accepts for a Pod."""
        result = await self._call(self.config.filter_verb, self._arguments(pod, names))
        if result.get("error"):
            raise ExtenderError(str(result["error"]))
        left: Iterable[str] = ()
        if self.config.node_cache_capable and result.get("nodenames") is not None:
            left = result["nodenames"]
        elif result.get("nodes") is not None:
            left = (node["metadata"]["name"] for node in result["nodes"].get("items") or ())
        remaining = frozenset(left)
        if not remaining <= set(names):
            unknown = ", ".join(sorted(remaining.difference(names)))
            raise ExtenderError(f"{self} returned nodes that were not in the request: {unknown}")
        return Filtered(remaining, result.get("failednodes") or {}, result.get("failedandunresolvablenodes") or {})

    async def prioritize(self, pod: PodInfo, names: Sequence[str]) -> dict[str, int]:
        """Return the extender's scores, 0 to 10, by Node."""
        result = await self._call(self.config.prioritize_verb, self._arguments(pod, names))
        return {each["host"]: int(each["score"]) for each in map(_lowered, result)}

    async def bind(self, pod: PodInfo) -> None:
        """Bind a Pod to its Node."""
        names = {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": pod.node_name}
        result = await self._call(self.config.bind_verb, names)
        if result.get("error"):
            raise ExtenderError(str(result["error"]))

    async def preempt(self, pod: PodInfo, candidates: Sequence[Candidate], nodes: NodeTable) -> list[Candidate]:
        """Return the Nodes that the extender accepts, each with its victims."""
        arguments: dict[str, Any] = {"Pod": self._pod(pod)}
        whole = not self.config.node_cache_capable
        arguments["NodeNameToVictims" if whole else "NodeNameToMetaVictims"] = {
            each.node_name: {
                "Pods": [self._pod(victim) if whole else {"UID": victim.uid} for victim in each.victims],
                "NumPDBViolations": each.violations,
            }
            for each in candidates
        }
        result = await self._call(self.config.preempt_verb, arguments)
        by_node = {each.node_name: each for each in candidates}
        agreed: list[Candidate] = []
        for node_name, entry in (result.get("nodenametometavictims") or {}).items():
            row = nodes.row_of(node_name)
            present = {} if row is None else nodes.pods[row]
            victims = _lowered(entry)
            uids = [_lowered(each).get("uid", "") for each in victims.get("pods") or ()]
            if node_name not in by_node or not uids or any(uid not in present for uid in uids):
                raise ExtenderError(f"{self} returned victims on node {node_name} that do not exist")
            violations = int(victims.get("numpdbviolations") or 0)
            pods = tuple(present[uid] for uid in uids)
            agreed.append(replace(by_node[node_name], victims=pods, violations=violations))
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
            raise ExtenderError(f"pod {pod.key} does not exist any more")
        return msgspec.Raw(raw)

    async def _call(self, verb: str, arguments: Mapping[str, Any]) -> Any:
        headers = {"content-type": "application/json", "accept": "application/json"}
        body = msgspec.json.encode(arguments)
        response = await self._transport.send(
            HttpRequest("POST", f"/{verb}", headers, body, timeout_s=self.config.timeout_s)
        )
        try:
            content = await response.read()
        finally:
            await response.aclose()
        if response.status != 200:
            raise ExtenderError(f"failed {verb} with extender at URL {self.config.url_prefix}, code {response.status}")
        try:
            decoded = msgspec.json.decode(content)
        except UNREADABLE as error:
            raise ExtenderError(f"{self} returned malformed JSON: {error}") from None
        return _lowered(decoded) if isinstance(decoded, dict) else decoded


def _lowered(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name.lower(): value for name, value in fields.items()}
