"""`PodAgent`: runs the Pods that are bound to its nodes, and tells their status.

Any number of nodes share one agent: one informer, one work queue, some workers.
Concurrency: a controller of the manager; a Pod is looked at by one worker at a time. Runtimes tell of changes by
`changed`, which puts the Pod into the queue again.
Guarantees: level-based; what was begun and not told when the process died is looked at again at the next start.
Source: kubelet pkg/kubelet/{kubelet.go,pod_workers.go}, pkg/kubelet/status/status_manager.go (1.36).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sampan.client import Conflict, DeleteOptions, NotFound, StrategicMergePatch
from sampan.core.time import Clock
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.version import older
from sampan.loops.context import ControllerContext
from sampan.node.plan import Plan, plan
from sampan.node.pod_status import Seen, difference, pod_status
from sampan.node.runtime import Runtime
from sampan.node.views import NODE_POD_VIEW, Pod, node_name_of
from sampan.operator.controller import Controller, ControllerOptions
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource

WORKERS: Final = 32
"""Pods that are worked on at a time: mostly they wait for the API server."""


@dataclass(frozen=True, slots=True)
class NodeHome:
    """A node, seen by the agent."""

    host_ip: str
    runtime: Runtime


@dataclass(slots=True)
class _Known:
    """A Pod that is here."""

    uid: str
    node: str
    written: Pod | None = None
    """As the server answered to the last status that was written."""


class PodAgent:
    """The agent of some nodes, by name; they may be put into `nodes` until the manager runs."""

    def __init__(self, context: ControllerContext, informer: SharedInformer[Any]) -> None:
        """`informer`: of Pods, in any view, with at least those of the nodes."""
        self.nodes: dict[str, NodeHome] = {}
        self._informer = informer
        self._clock: Clock = context.clock
        self._pods = context.manager.client.direct.resource(NODE_POD_VIEW, namespace="")
        self._known: dict[str, _Known] = {}
        self._recovered = False
        options = ControllerOptions(max_concurrent_reconciles=WORKERS, needs_leader_election=False)
        self._controller: Controller = context.manager.new_controller("node-agent", self.reconcile, options)
        self._controller.watch(KindSource(informer, self._requests))

    def changed(self, key: str) -> None:
        """A container of a Pod has changed on its own: for runtimes."""
        self._controller.queue.add(Request.of_key(key))

    async def reconcile(self, request: Request) -> Result | None:
        """One look at one Pod."""
        if not self._recovered:
            self._recovered = True
            self._recover()
        pod = self._pod(request.key)
        known = self._known.get(request.key)
        if known is not None and (pod is None or pod.metadata.uid != known.uid):
            await self._forget(request.key, known)
            known = None
        home = self.nodes.get(pod.spec.node_name) if pod is not None else None
        if pod is None or home is None:
            return None
        if known is None:
            known = self._known[request.key] = _Known(pod.metadata.uid, pod.spec.node_name)
        if pod.metadata.deletion_timestamp is not None:
            await self._end(pod, home, known)
            return None
        if pod.has_ended:
            await home.runtime.stop_sandbox(known.uid)
            return None
        return await self._run(pod, home, known)

    async def _run(self, pod: Pod, home: NodeHome, known: _Known) -> Result | None:
        """Have it run, as far as it goes now."""
        uid = pod.metadata.uid
        addresses = await home.runtime.run_sandbox(pod)
        next_steps = plan(pod, home.runtime.containers(uid), self._clock.now())
        while next_steps.start:
            for container, restart_count in next_steps.start:
                await home.runtime.start_container(pod, container, restart_count)
            next_steps = plan(pod, home.runtime.containers(uid), self._clock.now())
        if next_steps.stop:
            await home.runtime.stop_containers(pod, next_steps.stop, _grace_s(pod))
        seen = Seen(home.runtime.containers(uid), next_steps, home.host_ip, addresses, self._clock.now())
        if await self._write(pod, known, seen) in ("Succeeded", "Failed"):
            await home.runtime.stop_sandbox(uid)
        return Result(next_steps.wake_s)

    async def _end(self, pod: Pod, home: NodeHome, known: _Known) -> None:
        """End a Pod that is being deleted: its containers, then itself."""
        uid = pod.metadata.uid
        if not pod.has_ended:
            running = [name for name, record in home.runtime.containers(uid).items() if record.is_running]
            if running:
                await home.runtime.stop_containers(pod, running, _grace_s(pod))
            records = home.runtime.containers(uid)
            if any(record.is_running for record in records.values()):
                return  # The runtime tells when they have ended.
            if records:
                addresses = await home.runtime.run_sandbox(pod)
                ended = Plan(initialized=True)
                await self._write(pod, known, Seen(records, ended, home.host_ip, addresses, self._clock.now(), True))
        await self._delete(pod)

    async def _delete(self, pod: Pod) -> None:
        """Let the API server forget a Pod of which nothing is left. Finalizers may keep it for a while."""
        if pod.metadata.deletion_grace_period_seconds == 0 and pod.metadata.finalizers:
            return
        pods = self._pods.in_namespace(pod.metadata.namespace)
        options = DeleteOptions(grace_period_seconds=0, uid=pod.metadata.uid)
        try:
            await pods.delete(pod.metadata.name, options)
        except (NotFound, Conflict):
            return  # It is gone, or another one has its name.

    async def _write(self, pod: Pod, known: _Known, seen: Seen) -> str:
        """Write the status, if it differs; gives the phase."""
        status = pod_status(pod, seen)
        phase: str = status["phase"]
        change = difference(pod, status)
        if not change:
            return phase
        # With the uid of another Pod the server would refuse it: the name may have been given anew.
        patch = StrategicMergePatch({"metadata": {"uid": pod.metadata.uid}, "status": change})
        try:
            known.written = await self._pods.in_namespace(pod.metadata.namespace).status.patch(pod.metadata.name, patch)
        except (NotFound, Conflict):
            pass  # What has become of it the informer will tell.
        return phase

    async def _forget(self, key: str, known: _Known) -> None:
        home = self.nodes.get(known.node)
        if home is not None:
            await home.runtime.remove(known.uid)
        self._known.pop(key, None)

    def _pod(self, key: str) -> Pod | None:
        """The newest state that is known here: the informer's, or the answer to the own last write."""
        ref = self._informer.indexer.get(key)
        if ref is None:
            return None
        known = self._known.get(key)
        written = known.written if known is not None else None
        if written is None or written.metadata.uid != ref.uid:
            return NODE_POD_VIEW.decode(ref.raw)
        is_newer = older(ref.resource_version, written.metadata.resource_version)
        return written if is_newer else NODE_POD_VIEW.decode(ref.raw)

    def _recover(self) -> None:
        """Tell the runtimes of the Pods that were there before."""
        found: dict[str, list[Pod]] = {name: [] for name in self.nodes}
        for ref in self._informer.indexer.refs():
            name = node_name_of(ref.raw)
            if name in found:
                pod = NODE_POD_VIEW.decode(ref.raw)
                found[name].append(pod)
                self._known[ref.key] = _Known(pod.metadata.uid, name)
        for name, pods in found.items():
            self.nodes[name].runtime.recover(pods)

    def _requests(self, ref: Ref[Any]) -> Iterable[Request]:
        """Only Pods of the own nodes are looked at, and not for what was written here."""
        known = self._known.get(ref.key)
        written = known.written if known is not None else None
        own_version = written.metadata.resource_version if written is not None else None
        if own_version == ref.resource_version and ref.key in self._informer.indexer:
            return ()
        return (Request.of_key(ref.key),) if node_name_of(ref.raw) in self.nodes else ()


def _grace_s(pod: Pod) -> float:
    grace_s = pod.metadata.deletion_grace_period_seconds
    return 30.0 if grace_s is None else float(grace_s)
