"""`PodAgent`: runs the Pods that are bound to its nodes, and writes their status.

Any number of nodes share one agent: one informer, one work queue, some workers. The agent is the same for all runtimes.
Concurrency: a controller of the manager; one worker at a time reconciles a Pod. Runtimes report changes with `changed`,
which queues the Pod.
Guarantees: level-based. If the process is killed between a change and the write of the status, the next start
reconciles the Pod again.
Source: kubelet pkg/kubelet/{kubelet.go,pod_workers.go}, pkg/kubelet/status/status_manager.go (1.36).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from typing import Any, Final

from sampan.client import Conflict, DeleteOptions, Invalid, NotFound, StrategicMergePatch
from sampan.component_base.context import ControllerContext
from sampan.component_base.views import node_name_of
from sampan.core.time import Clock, format_time, parse_time
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.version import older
from sampan.node.admission.checks import NodeAdmission, PodRejection
from sampan.node.admission.node_state import NodeState
from sampan.node.admission.sysctls import AllowedSysctls
from sampan.node.node_home import NodeHome
from sampan.node.pods.forced_end import ForcedEnd
from sampan.node.pods.plan import PodActions
from sampan.node.pods.status import Observation, Status, difference, pod_status
from sampan.node.pods.worker import PodWorker, pod_addresses
from sampan.node.runtime import Runtime
from sampan.node.server.hosted import HostedPod
from sampan.node.views.pod import NODE_POD_VIEW, Pod
from sampan.operator.controller import Controller, ControllerOptions
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource

WORKERS: Final = 32
"""Pods that are reconciled at the same time. Workers mostly wait for the API server."""
_log = logging.getLogger("sampan.node")
_OVERDUE: Final = PodRejection("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")


@dataclass(slots=True)
class _Known:
    """Pod that the agent has reconciled before."""

    uid: str
    node: str
    forced_end: ForcedEnd | None = None
    """Reason and grace period, if the node has decided to end the Pod."""
    written: Pod | None = None
    """The server's response to the last write of the status."""


class PodAgent:
    """Agent of one or more nodes."""

    def __init__(
        self,
        context: ControllerContext,
        informer: SharedInformer[Any],
        make_worker: Callable[[Callable[[str], None]], PodWorker],
        *,
        admission: NodeAdmission | None = None,
        state: NodeState | None = None,
        nodes: dict[str, NodeHome] | None = None,
        elected: bool = False,
        sysctls: AllowedSysctls | None = None,
    ) -> None:
        """`informer` contains at least the Pods of these nodes, in any view.

        `make_worker` is called with the function that queues a Pod by its key. Without `admission` every Pod is
        admitted.
        `state`: state of the only node; a node under pressure refuses Pods.
        `nodes`: nodes by name. The caller may add nodes to it until the manager runs, and with `add_node` after that.
        `elected`: only the leader reconciles. `sysctls`: sysctls that Pods may set; None for all.
        """
        self.nodes: dict[str, NodeHome] = {} if nodes is None else nodes
        self._informer = informer
        self._clock: Clock = context.clock
        self._pods = context.manager.client.direct.resource(NODE_POD_VIEW, namespace="")
        self._worker = make_worker(self.changed)
        self._admission = admission
        self._state = state
        self._sysctls = sysctls
        self._known: dict[str, _Known] = {}
        self._recovered = False
        self._recovery = asyncio.Lock()
        options = ControllerOptions(max_concurrent_reconciles=WORKERS, needs_leader_election=elected)
        self._controller: Controller = context.manager.new_controller("node-agent", self.reconcile, options)
        self._controller.watch(KindSource(informer, self._requests))

    def add_node(self, name: str, home: NodeHome) -> None:
        """Add a node while the agent runs. Its Pods are recovered as after a start of the agent."""
        self.nodes[name] = home
        self._recovered = False
        for ref in self._informer.indexer.refs():
            if node_name_of(ref.raw) == name:
                self.changed(ref.key)

    def changed(self, key: str) -> None:
        """Queue a Pod, because one of its containers, probes or volumes has changed."""
        self._controller.queue.add(Request.of_key(key))

    def pod(self, namespace: str, name: str) -> tuple[Pod, Runtime] | None:
        """Return a Pod of these nodes, and its runtime."""
        key = f"{namespace}/{name}"
        ref = self._informer.indexer.get(key)
        home = None if ref is None else self.nodes.get(node_name_of(ref.raw))
        pod = self._pod(key) if home is not None else None
        return None if pod is None or home is None else (pod, home.runtime)

    def hosted(self) -> list[HostedPod]:
        """Return all Pods of these nodes."""
        found = []
        for key in list(self._known):
            ref, pod = self._informer.indexer.get(key), self._pod(key)
            home = self.nodes.get(pod.spec.node_name) if pod is not None else None
            if ref is not None and pod is not None and home is not None:
                found.append(HostedPod(pod, home.runtime, ref.raw))
        return found

    async def uids(self) -> Set[str] | None:
        """Return the uids of all Pods of these nodes; None while this process has no node."""
        if not self.nodes:
            return None
        await self._informer.synced()
        while not self._recovered:
            await self._recover()
        return {known.uid for known in self._known.values()}

    def has_ended(self, uid: str) -> bool:
        """Return True for a Pod in its last phase, and for one that no longer exists."""
        key = self._key(uid)
        pod = self._pod(key) if key else None
        return pod is None or pod.metadata.uid != uid or pod.has_ended

    def force_end(self, uid: str, end: ForcedEnd) -> None:
        """Stop a Pod, and write its last status. Returns at once. A second call replaces the first."""
        key = self._key(uid)
        if key:
            self._known[key].forced_end = end
            self.changed(key)

    def _key(self, uid: str) -> str:
        return next((key for key, known in self._known.items() if known.uid == uid), "")

    async def reconcile(self, request: Request) -> Result | None:
        """Bring one Pod closer to its desired state."""
        while not self._recovered:
            await self._recover()
        pod = self._pod(request.key)
        known = self._known.get(request.key)
        # A Pod of a StatefulSet is created again with its name. Everything of the old one must be gone first.
        if known is not None and (pod is None or pod.metadata.uid != known.uid):
            await self._forget(request.key, known)
            known = None
        home = self.nodes.get(pod.spec.node_name) if pod is not None else None
        if pod is None or home is None:
            return None
        if known is None:
            known = self._known[request.key] = _Known(pod.metadata.uid, pod.spec.node_name)
        # At once, not when it is deleted: its resources are free for other Pods of the node.
        if pod.has_ended:
            self._release(known)
        # Deletion comes before every other reason to stop, because it also removes the object.
        if pod.metadata.deletion_timestamp is not None:
            await self._end(pod, home, known)
            return None
        if pod.has_ended:
            await self._finish(pod, home, known)
            return None
        if known.forced_end is not None:
            await self._end_by_force(pod, home, known, known.forced_end)
            return None
        refusal = self._refusal(pod, known)
        if refusal is not None:
            await self._refuse(pod, home, known, refusal)
            return None
        return await self._run(pod, home, known)

    # ---- Pods that run

    async def _run(self, pod: Pod, home: NodeHome, known: _Known) -> Result | None:
        """Start and stop the containers of a Pod that should run, and write its status."""
        pod = self._worker.resizes.allocate(pod, lambda desired: self._resize(desired, known))
        synced = await self._worker.sync(pod, home)
        observed = Observation(
            synced.records,
            synced.plan,
            home.host_ips,
            synced.addresses,
            self._clock.now(),
            waiting=synced.waiting,
            has_sandbox=synced.has_sandbox,
            reports_resources=home.runtime.applies_resources,
            resources=self._worker.resizes.resources(known.uid) or {},
            allocated=self._worker.resizes.allocated(known.uid),
            resizes=self._worker.resizes.conditions(known.uid),
        )
        if await self._write(pod, known, pod_status(pod, observed)) in ("Succeeded", "Failed"):
            self._release(known)
            await home.runtime.stop_sandbox(known.uid)
            if not any(record.is_running for record in synced.records.values()):
                await self._worker.unmount(pod)
        wake_s = synced.wake_s
        deadline_s = pod.spec.active_deadline_seconds
        if deadline_s is not None:
            left_s = max(0.1, deadline_s - self._active_s(known.written or pod))
            wake_s = left_s if wake_s is None else min(wake_s, left_s)
        return Result(wake_s)

    def _resize(self, pod: Pod, known: _Known) -> PodRejection | None:
        """Allocate the resources in the current spec of a Pod, or return the reason why the node cannot."""
        ref = self._informer.indexer.get(pod.key)
        if self._admission is None or ref is None or ref.uid != known.uid:
            return None
        return self._admission.resize(known.node, known.uid, ref.raw)

    # ---- Pods that must not run

    def _refusal(self, pod: Pod, known: _Known) -> PodRejection | None:
        """Return the reason why a Pod cannot run on its node, or cannot run any longer."""
        deadline_s = pod.spec.active_deadline_seconds
        if deadline_s is not None and self._active_s(pod) >= deadline_s:
            return _OVERDUE
        # A start time means that this Pod was admitted before. A restarted agent must not reject it now.
        if self._admission is None or pod.reported.get("startTime"):
            return None
        ref = self._informer.indexer.get(pod.key)
        if ref is None or ref.uid != known.uid:
            return None
        refusal = self._state.refusal(pod, ref.raw) if self._state is not None else None
        if refusal is None and self._sysctls is not None:
            refusal = self._sysctls.refusal(pod)
        return refusal or self._admission.admit(known.node, known.uid, ref.raw)

    def _active_s(self, pod: Pod) -> float:
        start = pod.reported.get("startTime")
        return 0.0 if not start else (self._clock.now() - parse_time(start)).total_seconds()

    async def _refuse(self, pod: Pod, home: NodeHome, known: _Known, refusal: PodRejection) -> None:
        """Fail a Pod, then stop its containers."""
        rejected = refusal is not _OVERDUE
        message = f"Pod was rejected: {refusal.message}" if rejected else refusal.message
        self._worker.report_refusal(pod, refusal.reason, refusal.message, warning=rejected)
        status: Status = {"phase": "Failed", "reason": refusal.reason, "message": message}
        if rejected:
            # The kubelet sets it for a rejected Pod, too, and clients compute ages with it.
            status["startTime"] = pod.reported.get("startTime") or format_time(self._clock.now())
        await self._write(pod, known, {**status, "conditions": []})
        self._release(known)
        await self._finish(known.written or pod, home, known)

    async def _end_by_force(self, pod: Pod, home: NodeHome, known: _Known, end: ForcedEnd) -> None:
        """Stop a Pod that its node has evicted, then write its last status. Its conditions are written first."""
        conditions = end.conditions(pod, self._clock.now())
        await self._write(pod, known, {"phase": pod.reported.get("phase", "Pending"), "conditions": conditions})
        # The write has changed the Pod, and the next write must differ from the new state.
        pod = self._pod(pod.key) or pod
        if not await self._worker.stop(pod, home, grace_s_max=end.grace_s_max):
            return  # The runtime calls `changed` when they have ended.
        has_containers = bool(home.runtime.containers(known.uid))
        status = await self._last_status(pod, home, phase="Failed") if has_containers else None
        await self._write(pod, known, end.failed(status, pod, self._clock.now()))
        self._release(known)
        await home.runtime.stop_sandbox(known.uid)

    async def _finish(self, pod: Pod, home: NodeHome, known: _Known) -> None:
        """Stop the running containers of a Pod in its last phase, and write the final status."""
        if not await self._worker.stop(pod, home):
            return
        if home.runtime.containers(known.uid):
            await self._write(pod, known, await self._last_status(pod, home, phase=pod.reported["phase"]))
        await home.runtime.stop_sandbox(known.uid)
        await self._worker.unmount(pod)

    # ---- Pods that end

    async def _end(self, pod: Pod, home: NodeHome, known: _Known) -> None:
        """Stop the containers of a Pod that is being deleted, then delete it."""
        grace_s_max = known.forced_end.grace_s_max if known.forced_end is not None else None
        if not await self._worker.stop(pod, home, grace_s_max=grace_s_max):
            return  # The runtime calls `changed` when they have ended.
        if not pod.has_ended:
            self._release(known)
            if home.runtime.containers(known.uid):
                await self._write_last(pod, home, known)
        await self._worker.unmount(pod)
        await self._delete(pod)

    async def _write_last(self, pod: Pod, home: NodeHome, known: _Known) -> None:
        """Write the final status. If the API server refuses it, the Pod is deleted without it."""
        try:
            await self._write(pod, known, await self._last_status(pod, home))
        except Invalid as error:
            _log.warning("cannot write the final status of pod %s, deleting the pod without it: %s", pod.key, error)

    async def _last_status(self, pod: Pod, home: NodeHome, *, phase: str = "") -> Status:
        """Return the status of a Pod whose containers will not run again."""
        has_addresses = bool(pod.reported.get("podIPs"))
        addresses = pod_addresses(pod, home) if has_addresses else await home.runtime.run_sandbox(pod)
        observed = Observation(
            home.runtime.containers(pod.metadata.uid),
            PodActions(initialized=True),
            home.host_ips,
            addresses,
            self._clock.now(),
            final=True,
            phase=phase,
            reports_resources=home.runtime.applies_resources,
        )
        return pod_status(pod, observed)

    async def _delete(self, pod: Pod) -> None:
        """Delete the API object of a Pod whose containers have ended. Finalizers may delay it."""
        # A second delete with grace period 0 would change nothing: the object waits for its finalizers.
        if pod.metadata.deletion_grace_period_seconds == 0 and pod.metadata.finalizers:
            return
        pods = self._pods.in_namespace(pod.metadata.namespace)
        options = DeleteOptions(grace_period_seconds=0, uid=pod.metadata.uid)
        try:
            await pods.delete(pod.metadata.name, options)
        except (NotFound, Conflict):
            return  # It is gone, or another Pod has its name.

    async def _forget(self, key: str, known: _Known) -> None:
        self._release(known)
        home = self.nodes.get(known.node)
        if home is not None:
            await home.runtime.remove_sandbox(known.uid)
            await self._worker.forget(known.uid)
        self._known.pop(key, None)

    def _release(self, known: _Known) -> None:
        if self._admission is None:
            return
        self._admission.release(known.node, known.uid)
        # Freed resources may be enough for a resize that had to wait.
        waiting = set(self._worker.resizes.deferred()) - {known.uid}
        for key, each in self._known.items() if waiting else ():
            if each.uid in waiting and each.node == known.node:
                self.changed(key)

    # ---- the API server

    async def _write(self, pod: Pod, known: _Known, status: Status) -> str:
        """Write the status if it differs, and return its phase."""
        phase: str = status["phase"]
        change = difference(pod, status)
        if not change:
            return phase
        # The uid makes the server refuse the write if the name belongs to another Pod by now.
        patch = StrategicMergePatch({"metadata": {"uid": pod.metadata.uid}, "status": change})
        try:
            known.written = await self._pods.in_namespace(pod.metadata.namespace).status.patch(pod.metadata.name, patch)
        except (NotFound, Conflict):
            pass  # The informer will deliver the change.
        return phase

    def _pod(self, key: str) -> Pod | None:
        """Return the newest known state: the informer's, or the response to the agent's last write."""
        ref = self._informer.indexer.get(key)
        if ref is None:
            return None
        known = self._known.get(key)
        written = known.written if known is not None else None
        if written is None or written.metadata.uid != ref.uid:
            return NODE_POD_VIEW.decode(ref.raw)
        is_newer = older(ref.resource_version, written.metadata.resource_version)
        return written if is_newer else NODE_POD_VIEW.decode(ref.raw)

    async def _recover(self) -> None:
        """Pass the Pods of each node to its runtime, once, before any of them is reconciled."""
        async with self._recovery:
            if self._recovered:
                return
            pods_of = self._pods_by_node()
            for name, pods in pods_of.items():
                await self.nodes[name].runtime.recover(pods)
                self._worker.recover({pod.metadata.uid for pod in pods})
            self._recovered = self.nodes.keys() == pods_of.keys()

    def _pods_by_node(self) -> dict[str, list[Pod]]:
        """Return the Pods of each node. Admission counts the Pods that have run on their node before."""
        found: dict[str, list[Pod]] = {name: [] for name in self.nodes}
        for ref in self._informer.indexer.refs():
            name = node_name_of(ref.raw)
            if name in found:
                pod = NODE_POD_VIEW.decode(ref.raw)
                found[name].append(pod)
                self._known[ref.key] = _Known(pod.metadata.uid, name)
                if self._admission is not None and pod.reported.get("startTime") and not pod.has_ended:
                    self._admission.count(name, pod.metadata.uid, ref.raw)
        return found

    def _requests(self, ref: Ref[Any]) -> Iterable[Request]:
        """Map an event to the key of a Pod of these nodes.

        Ignore an event that the agent's own last write has caused.
        """
        known = self._known.get(ref.key)
        written = known.written if known is not None else None
        own_version = written.metadata.resource_version if written is not None else None
        if own_version == ref.resource_version and ref.key in self._informer.indexer:
            return ()
        return (Request.of_key(ref.key),) if node_name_of(ref.raw) in self.nodes else ()
