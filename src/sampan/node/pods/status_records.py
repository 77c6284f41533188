"""Container records rebuilt from the status of a Pod, for runs without a record in the runtime.

This happens when the agent restarts, when its directory was deleted, and when another runtime ran the Pod before.
Source: kubelet pkg/kubelet/kubelet_pods.go `convertToAPIContainerStatuses` (1.36), for reason and message.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sampan.core.time import parse_time
from sampan.kinds import core_v1
from sampan.node.runtime import ContainerRecord
from sampan.node.views.pod import Pod

KILLED_REASON: Final = "Unknown"
"""Reason of a container that was killed together with its agent, as containerd reports it."""
LOST_EXIT_CODE: Final = 137
LOST_REASON: Final = "ContainerStatusUnknown"
LOST_MESSAGE: Final = "The container could not be located when the pod was terminated"

_log = logging.getLogger("sampan.node")


def status_records(pod: Pod) -> Iterator[ContainerRecord]:
    """Yield the newest run of each container that the status reports; containers that never ran are omitted."""
    status = pod.status
    for each in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        record = _record(each)
        if record is not None:
            yield record


def is_of(record: ContainerRecord, runtime: str) -> bool:
    """Return whether the runtime with this name ran the container."""
    return record.id.startswith(f"{runtime}://")


def lost(record: ContainerRecord, now: dt.datetime) -> ContainerRecord:
    """Return the record as terminated if it reports a running container: its process no longer exists."""
    if not record.is_running:
        return record
    return replace(
        record,
        ready=False,
        started=False,
        finished_at=now,
        exit_code=LOST_EXIT_CODE,
        reason=LOST_REASON,
        message=LOST_MESSAGE,
    )


def _record(status: core_v1.ContainerStatus) -> ContainerRecord | None:
    """Return the run that a container status reports, or None if there was none."""
    state = status.get("state") or {}
    last = status.get("lastState") or {}
    running = state.get("running")
    ended = None if running else state.get("terminated") or last.get("terminated")
    run = running or ended
    if not run or not status.get("containerID"):
        return None
    try:
        started_at = parse_time(run["startedAt"])
        finished_at = parse_time(ended["finishedAt"]) if ended and ended.get("finishedAt") else None
    except (KeyError, ValueError) as error:
        _log.warning("cannot read the status of container %s: %s", status.get("name"), error)
        return None
    return ContainerRecord(
        status["name"],
        id=status["containerID"],
        image_id=status.get("imageID", ""),
        restart_count=status.get("restartCount", 0),
        started_at=started_at,
        started=bool(status.get("started")),
        ready=bool(status.get("ready")),
        finished_at=finished_at,
        exit_code=ended.get("exitCode", 0) if ended else 0,
        reason=ended.get("reason", "") if ended else "",
        message=ended.get("message", "") if ended else "",
    )
