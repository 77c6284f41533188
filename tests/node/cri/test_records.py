"""Statuses of CRI as records of the agent."""

import datetime as dt
from typing import Any

from sampan.node.cri.messages import message, value
from sampan.node.cri.records import RESTART_COUNT, container_record

START, END = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC), dt.datetime(2026, 1, 2, 3, 5, tzinfo=dt.UTC)


def nanoseconds(at: dt.datetime) -> int:
    return int(at.timestamp()) * 1_000_000_000


def status(state: str, **fields: Any) -> Any:
    """Return a ContainerStatus."""
    return message("ContainerStatus")(
        id="abc",
        metadata=message("ContainerMetadata")(name="main", attempt=1),
        state=value(state),
        created_at=nanoseconds(START) - 1,
        image_ref="sha256:1",
        **fields,
    )


def test_running_container_has_no_end() -> None:
    record = container_record("containerd", status("CONTAINER_RUNNING", started_at=nanoseconds(START)))
    assert record is not None
    assert (record.name, record.id, record.image_id) == ("main", "containerd://abc", "sha256:1")
    assert (record.is_running, record.started_at, record.restart_count) == (True, START, 1)


def test_exited_container_has_its_end() -> None:
    exited = status(
        "CONTAINER_EXITED",
        started_at=nanoseconds(START),
        finished_at=nanoseconds(END),
        exit_code=137,
        reason="OOMKilled",
        message="killed",
        annotations={RESTART_COUNT: "4"},
    )
    record = container_record("containerd", exited)
    assert record is not None
    assert (record.is_running, record.ready, record.finished_at) == (False, False, END)
    assert (record.exit_code, record.reason, record.message) == (137, "OOMKilled", "killed")
    assert record.restart_count == 4


def test_created_container_has_no_record() -> None:
    assert container_record("containerd", status("CONTAINER_CREATED")) is None


def test_unknown_container_counts_as_ended() -> None:
    record = container_record("containerd", status("CONTAINER_UNKNOWN"))
    assert record is not None
    assert not record.is_running


def test_earlier_run_is_the_previous_one() -> None:
    first = container_record("containerd", status("CONTAINER_EXITED"))
    second = container_record("containerd", status("CONTAINER_RUNNING"), previous=first)
    assert second is not None
    assert second.previous is first
