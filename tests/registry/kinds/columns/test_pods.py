"""Table rows of pods."""

import datetime as dt
from typing import Any

import pytest

from sampan.core.object import Object
from tests.registry.kinds.columns.tables import tables_at

NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC).timestamp()
COLUMNS = tables_at(NOW)["", "pods", "v1"]
READY = {"type": "Ready", "status": "True"}


def cells(pod: Object) -> dict[str, Any]:
    return {column.name: column.cell(pod) for column in COLUMNS}


def pod(spec: Object | None = None, status: Object | None = None, **metadata: Any) -> Object:
    return {
        "metadata": {"name": "web", "creationTimestamp": "2026-01-01T23:55:00Z", **metadata},
        "spec": {"containers": [{"name": "a"}, {"name": "b"}], **(spec or {})},
        "status": {"phase": "Pending", **(status or {})},
    }


def container(*, ready: bool = False, restarts: int = 0, last: str = "", name: str = "a", **state: Any) -> Object:
    result: Object = {"name": name, "ready": ready, "restartCount": restarts, "state": state}
    if last:
        result["lastState"] = {"terminated": {"finishedAt": last, "exitCode": 1}}
    return result


RUNNING = container(ready=True, running={})
DONE = container(terminated={"exitCode": 0, "reason": "Completed"})
INIT = {"initContainers": [{"name": "i"}, {"name": "j"}]}
SIDECAR = {"initContainers": [{"name": "i", "restartPolicy": "Always"}]}

STATUSES = [
    pytest.param(pod(), "0/2", "Pending", id="phase"),
    pytest.param(pod(status={"reason": "Evicted", "phase": "Failed"}), "0/2", "Evicted", id="reason of the pod"),
    pytest.param(
        pod(status={"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}),
        "0/2",
        "SchedulingGated",
        id="gated",
    ),
    pytest.param(
        pod(status={"phase": "Running", "containerStatuses": [RUNNING, RUNNING]}), "2/2", "Running", id="running"
    ),
    pytest.param(
        pod(status={"containerStatuses": [RUNNING, container(waiting={"reason": "CrashLoopBackOff"})]}),
        "1/2",
        "CrashLoopBackOff",
        id="waiting",
    ),
    pytest.param(
        pod(status={"containerStatuses": [container(terminated={"exitCode": 3})]}), "0/2", "ExitCode:3", id="exit code"
    ),
    pytest.param(
        pod(status={"containerStatuses": [container(terminated={"exitCode": 137, "signal": 9})]}),
        "0/2",
        "Signal:9",
        id="signal",
    ),
    pytest.param(pod(status={"phase": "Succeeded", "containerStatuses": [DONE]}), "0/2", "Completed", id="completed"),
    pytest.param(
        pod(status={"containerStatuses": [DONE, RUNNING], "conditions": [READY]}),
        "1/2",
        "Running",
        id="one done, one running, ready",
    ),
    pytest.param(
        pod(status={"containerStatuses": [DONE, RUNNING]}), "1/2", "NotReady", id="one done, one running, not ready"
    ),
    pytest.param(
        pod(status={"containerStatuses": [DONE, container(terminated={"exitCode": 1, "reason": "Error"})]}),
        "0/2",
        "Error",
        id="an error outweighs completion",
    ),
    pytest.param(
        pod(INIT, {"initContainerStatuses": [container(running={}, name="i")]}), "0/2", "Init:0/2", id="first init"
    ),
    pytest.param(
        pod(INIT, {"initContainerStatuses": [DONE, container(waiting={"reason": "PodInitializing"}, name="j")]}),
        "0/2",
        "Init:1/2",
        id="second init",
    ),
    pytest.param(
        pod(INIT, {"initContainerStatuses": [container(waiting={"reason": "ErrImagePull"}, name="i")]}),
        "0/2",
        "Init:ErrImagePull",
        id="init waits",
    ),
    pytest.param(
        pod(INIT, {"initContainerStatuses": [container(terminated={"exitCode": 2}, name="i")]}),
        "0/2",
        "Init:ExitCode:2",
        id="init failed",
    ),
    pytest.param(
        pod(
            SIDECAR,
            {
                "phase": "Running",
                "initContainerStatuses": [{**container(ready=True, running={}, name="i"), "started": True}],
                "containerStatuses": [RUNNING, RUNNING],
            },
        ),
        "3/3",
        "Running",
        id="sidecars count",
    ),
    pytest.param(
        pod(status={"phase": "Running"}, deletionTimestamp="2026-01-01T23:59:00Z"), "0/2", "Terminating", id="deleted"
    ),
    pytest.param(
        pod(status={"reason": "NodeLost"}, deletionTimestamp="2026-01-01T23:59:00Z"), "0/2", "Unknown", id="node lost"
    ),
    pytest.param(pod(status={"phase": "Failed"}, deletionTimestamp="2026-01-01T23:59:00Z"), "0/2", "Failed", id="over"),
]


@pytest.mark.parametrize(("obj", "ready", "status"), STATUSES)
def test_status_is_one_word(obj: Object, ready: str, status: str) -> None:
    row = cells(obj)
    assert (row["Ready"], row["Status"]) == (ready, status)


@pytest.mark.parametrize(
    ("statuses", "shown"),
    [
        pytest.param([container()], "0", id="none"),
        pytest.param([container(restarts=2)], "2", id="without a time"),
        pytest.param(
            [
                container(restarts=2, last="2026-01-01T23:55:00Z"),
                container(restarts=1, last="2026-01-01T23:50:00Z"),
            ],
            "3 (5m ago)",
            id="the last one counts",
        ),
    ],
)
def test_restarts_show_the_time_of_the_last_one(statuses: list[Object], shown: str) -> None:
    assert cells(pod(status={"containerStatuses": statuses}))["Restarts"] == shown


def test_restarts_of_finished_init_containers_do_not_count() -> None:
    init = container(restarts=4, name="i", terminated={"exitCode": 0})
    status = {"initContainerStatuses": [init], "containerStatuses": [container(restarts=1)]}
    assert cells(pod(INIT, status))["Restarts"] == "1"


def test_absent_values_of_wide_columns_are_none() -> None:
    row = cells(pod())
    assert [row[name] for name in ("IP", "Node", "Nominated Node", "Readiness Gates")] == ["<none>"] * 4


def test_wide_columns() -> None:
    row = cells(
        pod(
            {"nodeName": "n1", "readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]},
            {"podIPs": [{"ip": "10.0.0.1"}], "conditions": [{"type": "a", "status": "True"}]},
        )
    )
    assert (row["IP"], row["Node"], row["Readiness Gates"]) == ("10.0.0.1", "n1", "1/2")
    assert row["Age"] == "5m"


def test_rows_of_different_pods_do_not_mix() -> None:
    first, second = pod(), pod(status={"phase": "Running"})
    assert [cells(each)["Status"] for each in (first, second, first)] == ["Pending", "Running", "Pending"]
