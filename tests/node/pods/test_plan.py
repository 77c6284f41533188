"""Decisions without a cluster: restarts, addresses, annotations."""

import datetime as dt
from dataclasses import replace

import pytest

from sampan.node.node_object.pod_addresses import AddressesExhausted, PodAddresses, pod_cidr
from sampan.node.pods.plan import backoff_s, plan
from sampan.node.runtime import ContainerRecord
from sampan.node.set_up import node_names
from sampan.node.simulated.annotations import Script, script_of
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod, PodSpec

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def ended(restart_count: int, *, ran_s: float = 1.0, ago_s: float = 0.0, code: int = 1) -> ContainerRecord:
    """Return a run that has ended."""
    finished = NOW - dt.timedelta(seconds=ago_s)
    started = finished - dt.timedelta(seconds=ran_s)
    return ContainerRecord("main", "id", "image", restart_count, started, finished_at=finished, exit_code=code)


@pytest.mark.parametrize(
    ("record", "wait_s"),
    [
        (ended(0), 0),
        (ended(1), 10),
        (ended(2), 20),
        (ended(5), 160),
        (ended(6), 300),
        (ended(1000), 300),
        (ended(6, ran_s=600), 0),
        (replace(ended(6), reason="Unknown"), 0),
        (replace(ended(6), reason="ContainerStatusUnknown"), 0),
    ],
    ids=["first", "second", "third", "doubles", "at most", "for ever", "ran long", "killed with its agent", "lost"],
)
def test_backoff_before_a_restart(record: ContainerRecord, wait_s: float) -> None:
    assert backoff_s(record) == wait_s


@pytest.mark.parametrize(
    ("policy", "code", "starts"),
    [("Always", 0, 1), ("Always", 1, 1), ("OnFailure", 1, 1), ("OnFailure", 0, 0), ("Never", 1, 0)],
)
def test_restart_policy_and_rules_decide_what_runs_again(policy: str, code: int, starts: int) -> None:
    pod = Pod(spec=PodSpec(restart_policy=policy, containers=[Container("main")]))
    found = plan(pod, {"main": ended(2, ago_s=20, code=code)}, NOW)
    assert [restart_count for _, restart_count in found.start] == [3] * starts


def test_pending_backoff_has_a_wake_up_time() -> None:
    pod = Pod(spec=PodSpec(containers=[Container("main")]))
    found = plan(pod, {"main": ended(2, ago_s=5)}, NOW)
    assert (found.start, found.backing_off, found.wake_s) == ([], {"main": 20.0}, 15.0)


@pytest.mark.parametrize(("policy", "fails"), [("Never", True), ("Always", False), ("OnFailure", False)])
def test_failed_init_container_fails_the_pod_or_is_restarted(policy: str, fails: bool) -> None:
    spec = PodSpec(restart_policy=policy, containers=[Container("web")], init_containers=[Container("main")])
    found = plan(Pod(spec=spec), {"main": ended(0)}, NOW)
    assert (found.init_failed, found.initialized) == (fails, False)
    assert [container.name for container, _ in found.start] == ([] if fails else ["main"])


def test_a_released_address_is_reused_last() -> None:
    addresses = PodAddresses("10.0.0.0/29")
    first = addresses.take("a")
    assert addresses.take("a") == first == "10.0.0.2"
    addresses.release("a")
    assert [addresses.take(uid) for uid in "bcdef"] == ["10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6", "10.0.0.2"]
    with pytest.raises(AddressesExhausted, match="all 5 addresses"):
        addresses.take("g")


def test_nodes_have_different_pod_cidrs() -> None:
    assert [pod_cidr(number) for number in (0, 256, 32767)] == ["250.0.0.0/24", "250.1.0.0/24", "250.127.255.0/24"]
    with pytest.raises(ValueError, match="has only 32768"):
        pod_cidr(32768)


@pytest.mark.parametrize(
    ("annotations", "policy", "script"),
    [
        ({}, "Always", Script()),
        ({}, "Never", Script(end_after_s=0.0)),
        ({"sampan.dev/complete-after": "1m"}, "Always", Script(end_after_s=60.0)),
        ({"sampan.dev/fail-after": "1s", "sampan.dev/complete-after": "1m"}, "Always", Script(0.0, 1.0, 1)),
        ({"sampan.dev/exit-code": "0"}, "Always", Script(stopped_exit_code=0)),
        ({"sampan.dev/ready-after": "soon", "sampan.dev/exit-code": "-1"}, "Always", Script()),
        ({"sampan.dev/ready-after": "-1s", "sampan.dev/stop-after": "1.5s"}, "Always", Script(stop_after_s=1.5)),
    ],
    ids=["nothing", "never", "complete", "fail first", "exit code", "unreadable", "negative"],
)
def test_annotations_become_a_script(annotations: dict[str, str], policy: str, script: Script) -> None:
    assert script_of(annotations, policy) == script


def test_names_of_nodes() -> None:
    assert node_names(1, "alone") == ["alone"]
    assert node_names(3, "node") == ["node-1", "node-2", "node-3"]
