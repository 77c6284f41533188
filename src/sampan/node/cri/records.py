"""`container_record`: converts a container's status of CRI into the agent's record.

Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_container.go `toKubeContainerStatus` (1.36).
"""

import datetime as dt
from typing import Final

from sampan.core.numbers.integers import integer_or
from sampan.node.cri.messages import AnyMessage, value
from sampan.node.runtime import ContainerRecord

RESTART_COUNT: Final = "io.kubernetes.container.restartCount"
"""Annotation of a container with the restart count of its run."""
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def container_record(
    runtime: str, status: AnyMessage, *, previous: ContainerRecord | None = None
) -> ContainerRecord | None:
    """Return the record of a run; None if it was created but not started.

    `runtime`: name of the runtime, the scheme of the container's id.
    """
    if status.state == value("CONTAINER_CREATED"):
        return None
    # A container in the state UNKNOWN counts as ended, so that the restart policy decides.
    is_running = status.state == value("CONTAINER_RUNNING")
    started_at = status.started_at or status.created_at
    return ContainerRecord(
        status.metadata.name,
        id=f"{runtime}://{status.id}",
        image_id=status.image_ref,
        restart_count=integer_or(status.annotations.get(RESTART_COUNT, ""), status.metadata.attempt),
        started_at=_time(started_at),
        started=is_running,
        ready=is_running,
        finished_at=None if is_running else _time(status.finished_at or started_at),
        exit_code=status.exit_code,
        reason=status.reason,
        message=status.message,
        previous=previous,
    )


def _time(nanoseconds: int) -> dt.datetime:
    return _EPOCH + dt.timedelta(microseconds=nanoseconds // 1000)
