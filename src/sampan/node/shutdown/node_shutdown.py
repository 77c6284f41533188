"""`NodeShutdown`: ends the Pods of a node in stages, before the machine or the agent ends.

With systemd, the machine's shutdown starts it. Without systemd, a signal of the process starts it (`ShutdownSignal`).
Concurrency: `run` waits for either, and performs one shutdown at a time.
Source: kubelet pkg/kubelet/nodeshutdown (1.36).
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from sampan.node.admission.node_state import NodeState
from sampan.node.eviction.manager import EvictablePods
from sampan.node.pods.forced_end import ForcedEnd
from sampan.node.shutdown.inhibitor import Inhibitor
from sampan.node.shutdown.policy import ShutdownPolicy, ShutdownStage, names_of
from sampan.node.shutdown.signal import ShutdownSignal
from sampan.node.views.pod import Pod

REASON: Final = "Terminated"
MESSAGE: Final = "Pod was terminated in response to imminent node shutdown."
STATUS_S: Final = 3.0
"""Seconds to write the last statuses after the last stage."""
_POLL_S: Final = 0.1
_RETRY_S: Final = 10.0
_log = logging.getLogger("sampan.node")


class NodeShutdown:
    """Shutdown of one node. A `Runnable` of the manager."""

    needs_leader_election = False

    def __init__(
        self,
        policy: ShutdownPolicy,
        *,
        pods: EvictablePods,
        state: NodeState,
        signal: ShutdownSignal,
        inhibitor: Inhibitor | None = None,
    ) -> None:
        """`inhibitor`: lock of a machine with systemd; None without systemd."""
        self._policy = policy
        self._pods = pods
        self._state = state
        self._signal = signal
        self._inhibitor = inhibitor

    def __str__(self) -> str:
        return "shutdown of the node"

    async def run(self) -> None:
        """Wait for shutdowns until cancelled."""
        async with asyncio.TaskGroup() as group:
            if self._inhibitor is not None:
                group.create_task(self._follow(self._inhibitor), name="shutdown of the machine")
            await self._signal.requested()
            await self.shut_down()
            self._signal.finish()

    async def _follow(self, inhibitor: Inhibitor) -> None:
        """Delay each shutdown of the machine until the Pods have ended."""
        try:
            while True:
                try:
                    await inhibitor.acquire(self._policy.total_s)
                    await inhibitor.announced()
                    await self.shut_down()
                except OSError as error:
                    _log.warning("cannot watch for the shutdown of the machine, retrying: %s", error)
                    await asyncio.sleep(_RETRY_S)
        finally:
            await asyncio.shield(inhibitor.release())

    async def shut_down(self) -> None:
        """End all Pods, stage by stage. New Pods are refused from now on."""
        _log.info("the node is shutting down", extra={"seconds": self._policy.total_s})
        self._state.set_shutting_down(True)
        active = [each.pod for each in self._pods.hosted() if not each.pod.has_ended]
        for stage, pods in self._policy.staged(active):
            await self._end(stage, pods)
        await self._ended(active, STATUS_S)

    async def _end(self, stage: ShutdownStage, pods: Sequence[Pod]) -> None:
        for pod in pods:
            self._pods.force_end(pod.metadata.uid, ForcedEnd(REASON, MESSAGE, stage.grace_s))
        left = await self._ended(pods, stage.grace_s)
        if left:
            _log.warning("pods did not end in time", extra={"pods": names_of(left), "seconds": stage.grace_s})

    async def _ended(self, pods: Sequence[Pod], limit_s: float) -> list[Pod]:
        """Wait until Pods have ended, with a time limit. Returns the Pods that have not ended."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit_s
        while True:
            left = [pod for pod in pods if not self._pods.has_ended(pod.metadata.uid)]
            if not left or loop.time() >= deadline:
                return left
            await asyncio.sleep(_POLL_S)
