"""`PodAgent`: runs the Pods that are bound to its nodes, and tells their status.

Any number of nodes share one agent: one informer, one work queue, some workers.
Concurrency: a controller of the manager; a Pod is looked at by one worker at a time. Runtimes tell of changes by
`changed`, which puts the Pod into the queue again.
Guarantees: level-based; what was begun and not told when the process died is looked at again at the next start.
Source: kubelet pkg/kubelet/{kubelet.go,pod_workers.go}, pkg/kubelet/status/status_manager.go (1.36).
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sampan.client import Conflict, DeleteOptions, Invalid, NotFound, StrategicMergePatch
from sampan.core.time import Clock, format_time, parse_time
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.version import older
from sampan.loops.context import ControllerContext
from sampan.loops.views import node_name_of
from sampan.node.admission import NodeAdmission, Refusal
from sampan.node.details import DETAILED_POD_VIEW, DetailedPod
from sampan.node.images import Images
from sampan.node.node_home import NodeHome
from sampan.node.plan import Plan, Records, plan
from sampan.node.pod_status import Seen, Status, Waiting, difference, pod_status
from sampan.node.pod_worker import PodWorker, pod_addresses
from sampan.node.runtime import Runtime
from sampan.node.server.hosted import HostedPod
from sampan.node.views import NODE_POD_VIEW, Pod
from sampan.operator.controller import Controller, ControllerOptions
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource
from sampan.resource import ObjectType

WORKERS: Final = 32
"""Pods that are worked on at a time: mostly they wait for the API server."""
_log = logging.getLogger("sampan.node")
_OVERDUE: Final = Refusal("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")


@dataclass(slots=True)
class _Known:
    """A Pod that is here."""

    uid: str
    node: str
    written: Pod | None = None
    """As the server answered to the last status that was written."""


class PodAgent:
    """The agent of some nodes, by name; they are put into `nodes` until the manager runs. `take_in` adds one later."""

    def __init__(
        self,
        context: ControllerContext,
        informer: SharedInformer[Any],
        *,
        worker: PodWorker | None = None,
        images: Images | None = None,
        admission: NodeAdmission | None = None,
        nodes: dict[str, NodeHome] | None = None,
        elected: bool = False,
    ) -> None:
        """`informer`: of Pods, in any view, with at least those of the nodes.

        `worker` is needed for nodes whose runtime takes a config, `images` for others whose images may be missing;
        without `admission` every Pod may come. `elected`:
        only the leader works for the Pods.
        """
        self.nodes: dict[str, NodeHome] = {} if nodes is None else nodes
        self._informer = informer
        self._clock: Clock = context.clock
        client = context.manager.client.direct
        self._pods = client.resource(NODE_POD_VIEW, namespace="")
        self._detailed_pods = client.resource(DETAILED_POD_VIEW, namespace="")
        self._worker = worker
        self._images = images
        self._admission = admission
        self._known: dict[str, _Known] = {}
        self._recovered = False
        options = ControllerOptions(max_concurrent_reconciles=WORKERS, needs_leader_election=elected)
        self._controller: Controller = context.manager.new_controller("node-agent", self.reconcile, options)
        self._controller.watch(KindSource(informer, self._requests))
        if worker is not None:
            worker.on_change(self.changed)

    def take_in(self, name: str, home: NodeHome) -> None:
        """Work for the Pods of one more node, as if the agent had started now."""
        self.nodes[name] = home
        self._recovered = False
        for ref in self._informer.indexer.refs():
            if node_name_of(ref.raw) == name:
                self.changed(ref.key)

    def changed(self, key: str) -> None:
        """A container of a Pod has changed on its own: for runtimes."""
        self._controller.queue.add(Request.of_key(key))

    def pod(self, namespace: str, name: str) -> tuple[Pod, Runtime] | None:
        """A Pod that is here, and its runtime: for those who want to look into it."""
        key = f"{namespace}/{name}"
        ref = self._informer.indexer.get(key)
        home = None if ref is None else self.nodes.get(node_name_of(ref.raw))
        pod = self._pod(key) if home is not None else None
        return None if pod is None or home is None else (pod, home.runtime)

    def hosted(self) -> list[HostedPod]:
        """All Pods that are here."""
        found = []
        for key in list(self._known):
            ref, pod = self._informer.indexer.get(key), self._pod(key)
            home = self.nodes.get(pod.spec.node_name) if pod is not None else None
            if ref is not None and pod is not None and home is not None:
                found.append(HostedPod(pod, home.runtime, ref.raw))
        return found

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
        if pod.has_ended:
            self._release(known)
        if pod.metadata.deletion_timestamp is not None:
            await self._end(pod, home, known)
            return None
        if pod.has_ended:
            await self._finish(pod, home, known)
            return None
        refusal = self._refusal(pod, known)
        if refusal is not None:
            await self._refuse(pod, home, known, refusal)
            return None
        return await self._run(pod, home, known)

    # ---- Pods that run

    async def _run(self, pod: Pod, home: NodeHome, known: _Known) -> Result | None:
        """Have it run, as far as it goes now."""
        uid = pod.metadata.uid
        if self._worker is not None and isinstance(pod, DetailedPod):
            done = await self._worker.sync(pod, home)
            now = self._clock.now()
            seen = Seen(done.records, done.plan, home.host_ip, done.addresses, now, waiting=done.waiting)
            wake_s = done.wake_s
        else:
            seen, wake_s = await self._run_plainly(pod, home)
        if await self._write(pod, known, pod_status(pod, seen)) in ("Succeeded", "Failed"):
            self._release(known)
            await home.runtime.stop_sandbox(uid)
        deadline_s = pod.spec.active_deadline_seconds
        if deadline_s is not None:
            left_s = max(0.1, deadline_s - self._active_s(known.written or pod))
            wake_s = left_s if wake_s is None else min(wake_s, left_s)
        return Result(wake_s)

    async def _run_plainly(self, pod: Pod, home: NodeHome) -> tuple[Seen, float | None]:
        """Have it run by a runtime that needs nothing but the Pod; also returns when to look at it again."""
        uid = pod.metadata.uid
        addresses = await home.runtime.run_sandbox(pod)
        next_steps = plan(pod, home.runtime.containers(uid), self._clock.now())
        waiting: dict[str, Waiting] = {}
        while left := [(each, count) for each, count in next_steps.start if each.name not in waiting]:
            for container, restart_count in left:
                why = await self._images.ensure(home.runtime, pod, container) if self._images is not None else None
                if why is None:
                    await home.runtime.start_container(pod, container, restart_count)
                else:
                    waiting[container.name] = why
            next_steps = plan(pod, home.runtime.containers(uid), self._clock.now())
        if next_steps.stop:
            await home.runtime.stop_containers(pod, next_steps.stop, _grace_s(pod))
        records, now = home.runtime.containers(uid), self._clock.now()
        image_s = self._images.wake_s(uid) if waiting and self._images is not None else None
        wake_s = min((each for each in (next_steps.wake_s, image_s) if each is not None), default=None)
        return Seen(records, next_steps, home.host_ip, addresses, now, waiting=waiting), wake_s

    # ---- Pods that must not run

    def _refusal(self, pod: Pod, known: _Known) -> Refusal | None:
        """Why a Pod cannot be here, or not any longer."""
        deadline_s = pod.spec.active_deadline_seconds
        if deadline_s is not None and self._active_s(pod) >= deadline_s:
            return _OVERDUE
        if self._admission is None or pod.status.get("startTime"):
            return None
        ref = self._informer.indexer.get(pod.key)
        if ref is None or ref.uid != known.uid:
            return None
        return self._admission.admit(known.node, known.uid, ref.raw)

    def _active_s(self, pod: Pod) -> float:
        start = pod.status.get("startTime")
        return 0.0 if not start else (self._clock.now() - parse_time(start)).total_seconds()

    async def _refuse(self, pod: Pod, home: NodeHome, known: _Known, refusal: Refusal) -> None:
        """Fail a Pod, then end what runs of it."""
        rejected = refusal is not _OVERDUE
        message = f"Pod was rejected: {refusal.message}" if rejected else refusal.message
        if self._worker is not None and isinstance(pod, DetailedPod):
            self._worker.tell_refused(pod, refusal.reason, refusal.message, warning=rejected)
        status: Status = {"phase": "Failed", "reason": refusal.reason, "message": message}
        if rejected:
            status["startTime"] = pod.status.get("startTime") or format_time(self._clock.now())
        await self._write(pod, known, {**status, "conditions": []})
        self._release(known)
        await self._finish(known.written or pod, home, known)

    async def _finish(self, pod: Pod, home: NodeHome, known: _Known) -> None:
        """Let nothing run of a Pod that has ended for good."""
        if not await self._stopped(pod, home):
            return
        records = self._records(pod, home)
        if records and isinstance(pod, DetailedPod):
            await self._write(pod, known, await self._last_status(pod, home, phase=pod.status["phase"]))
        await home.runtime.stop_sandbox(known.uid)

    # ---- Pods that end

    async def _end(self, pod: Pod, home: NodeHome, known: _Known) -> None:
        """End a Pod that is being deleted: its containers, then itself."""
        if not await self._stopped(pod, home):
            return  # The runtime tells when they have ended.
        if not pod.has_ended:
            self._release(known)
            if self._records(pod, home):
                await self._write_last(pod, home, known)
        await self._delete(pod)

    async def _write_last(self, pod: Pod, home: NodeHome, known: _Known) -> None:
        """Write the final status. One that the API server refuses must not keep the Pod from being deleted."""
        try:
            await self._write(pod, known, await self._last_status(pod, home))
        except Invalid as error:
            _log.warning("final status of pod %s refused, deleting it without: %s", pod.key, error)

    async def _stopped(self, pod: Pod, home: NodeHome) -> bool:
        """Have its containers end; whether they have."""
        if self._worker is not None and isinstance(pod, DetailedPod):
            return self._worker.stop(pod, home)
        records = home.runtime.containers(pod.metadata.uid)
        running = [name for name, record in records.items() if record.is_running]
        if running:
            await home.runtime.stop_containers(pod, running, _grace_s(pod))
        records = home.runtime.containers(pod.metadata.uid)
        return not any(record.is_running for record in records.values())

    async def _last_status(self, pod: Pod, home: NodeHome, *, phase: str = "") -> Status:
        """The status of a Pod whose containers will not run again."""
        told = bool(pod.status.get("podIPs"))
        addresses = pod_addresses(pod, home) if told else await home.runtime.run_sandbox(pod)
        ended = Plan(initialized=True)
        seen = Seen(
            self._records(pod, home), ended, home.host_ip, addresses, self._clock.now(), final=True, phase=phase
        )
        return pod_status(pod, seen)

    def _records(self, pod: Pod, home: NodeHome) -> Records:
        return home.runtime.containers(pod.metadata.uid)

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

    async def _forget(self, key: str, known: _Known) -> None:
        self._release(known)
        home = self.nodes.get(known.node)
        if self._images is not None:
            self._images.forget(known.uid)
        if home is not None:
            await home.runtime.remove(known.uid)
            if self._worker is not None and home.runtime.takes_config:
                await self._worker.forget(known.uid)
        self._known.pop(key, None)

    def _release(self, known: _Known) -> None:
        if self._admission is not None:
            self._admission.release(known.node, known.uid)

    # ---- the API server

    async def _write(self, pod: Pod, known: _Known, status: Status) -> str:
        """Write the status, if it differs; gives the phase."""
        phase: str = status["phase"]
        change = difference(pod, status)
        if not change:
            return phase
        # With the uid of another Pod the server would refuse it: the name may have been given anew.
        patch = StrategicMergePatch({"metadata": {"uid": pod.metadata.uid}, "status": change})
        pods = self._detailed_pods if isinstance(pod, DetailedPod) else self._pods
        try:
            known.written = await pods.in_namespace(pod.metadata.namespace).status.patch(pod.metadata.name, patch)
        except (NotFound, Conflict):
            pass  # What has become of it the informer will tell.
        return phase

    def _pod(self, key: str) -> Pod | None:
        """The newest state that is known here: the informer's, or the answer to the own last write."""
        ref = self._informer.indexer.get(key)
        if ref is None:
            return None
        known = self._known.get(key)
        written = known.written if known is not None else None
        if written is None or written.metadata.uid != ref.uid:
            return self._decode(ref)
        is_newer = older(ref.resource_version, written.metadata.resource_version)
        return written if is_newer else self._decode(ref)

    def _decode(self, ref: Ref[Any]) -> Pod:
        pod: Pod = self._view(node_name_of(ref.raw)).decode(ref.raw)
        return pod

    def _view(self, node: str) -> ObjectType[Any]:
        """As much of a Pod as the runtime of its node needs."""
        home = self.nodes.get(node)
        return DETAILED_POD_VIEW if home is not None and home.runtime.takes_config else NODE_POD_VIEW

    def _recover(self) -> None:
        """Tell the runtimes of the Pods that were there before."""
        found: dict[str, list[Pod]] = {name: [] for name in self.nodes}
        for ref in self._informer.indexer.refs():
            name = node_name_of(ref.raw)
            if name in found:
                pod = self._view(name).decode(ref.raw)
                found[name].append(pod)
                self._known[ref.key] = _Known(pod.metadata.uid, name)
                if self._admission is not None and pod.status.get("startTime") and not pod.has_ended:
                    self._admission.count(name, pod.metadata.uid, ref.raw)
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
