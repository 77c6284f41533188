"""Tests of Job decisions without a server: indexes, policies, backoff, plans, and counting with crashes."""

import copy
import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.component_base.views import ContainerStatus, InitContainer, Pod, PodCondition, PodSpec, PodStatus
from sampan.controllers.job.backoff import FAILURE_COUNT, IGNORED_FAILURE_COUNT, BackoffRecord, finished_at
from sampan.controllers.job.conditions import put_condition
from sampan.controllers.job.counting import NAMED_MAX, count_named, name_terminated
from sampan.controllers.job.indexes import COMPLETION_INDEX, Indexes
from sampan.controllers.job.outcome import outcome
from sampan.controllers.job.plan import BURST, plan
from sampan.controllers.job.policies import PodFailure, pod_failure, success_message
from sampan.controllers.job.spec import JobSpec
from sampan.controllers.job.state import TRACKING_FINALIZER, JobState, is_tracked, observe
from sampan.controllers.job.templates import new_pod
from sampan.resource import ObjectMeta

NOW = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


def job(status: Any | None = None, **spec: object) -> Any:
    """A Job that started an hour ago."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}
    metadata = {"name": "a", "namespace": "n", "uid": "u"}
    fields = {"template": template, "parallelism": 1, "completions": 1, **spec}
    begun: Any = {"startTime": "2026-01-01T11:00:00Z"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": fields,
        "status": begun | (status or {}),
    }


def indexed(completions: int, status: Any | None = None, **spec: object) -> Any:
    """A Job with indexes."""
    return job(status, **{"completions": completions, "parallelism": completions, "completionMode": "Indexed", **spec})


def pod(uid: str, phase: str = "Running", *, index: int | None = None, tracked: bool = True, **more: object) -> Pod:
    """A Pod that, if it has ended, ended at 11:50. `more`: `deleting`, `failures`, `exit_code`."""
    annotations = {} if index is None else {COMPLETION_INDEX: str(index)}
    if "failures" in more:
        annotations[FAILURE_COUNT] = str(more["failures"])
    metadata = ObjectMeta(
        name=uid, namespace="n", uid=uid, annotations=annotations, finalizers=[TRACKING_FINALIZER] if tracked else []
    )
    metadata.creation_timestamp = "2026-01-01T11:00:00Z"
    if more.get("deleting"):
        metadata.deletion_timestamp = "2026-01-01T11:50:00Z"
    status = PodStatus(phase=phase)
    if phase in ("Succeeded", "Failed"):
        ended = {"exitCode": more.get("exit_code", 1), "finishedAt": "2026-01-01T11:50:00Z"}
        status.container_statuses = [ContainerStatus(name="c", state={"terminated": ended})]
    return Pod(metadata=metadata, status=status)


def observed(obj: Any, *pods: Pod) -> JobState:
    """The observed state of a Job."""
    return observe(obj, pods, NOW, BackoffRecord())


# ---- indexes


@pytest.mark.parametrize(
    ("indexes", "text"),
    [([], ""), ([3], "3"), ([3, 4], "3,4"), ([5, 4, 3], "3-5"), ([0, 1, 2, 4, 7, 8], "0-2,4,7,8")],
)
def test_indexes_as_text(indexes: list[int], text: str) -> None:
    assert str(Indexes.of(indexes)) == text
    assert Indexes.parse(text, 10) == Indexes.of(indexes)


@pytest.mark.parametrize(
    ("text", "indexes"),
    [("1,x,3", [1, 3]), ("2-9,20", [2, 3, 4]), ("5-3,1-", []), ("-1", []), ("7", []), ("0,1-2,3", [0, 1, 2, 3])],
)
def test_malformed_or_too_large_indexes_are_left_out(text: str, indexes: list[int]) -> None:
    assert Indexes.parse(text, 5) == Indexes.of(indexes)


SETS = st.sets(st.integers(0, 40))


@given(SETS, SETS, st.integers(0, 50), st.integers(0, 45))
def test_indexes_are_a_set(one: set[int], other: set[int], count: int, completions: int) -> None:
    mine, theirs = Indexes.of(one), Indexes.of(other)
    assert Indexes.parse(str(mine), 41) == mine
    assert len(mine | theirs) == len(one | other)
    assert mine.common(theirs) == len(one & other)
    assert [index for index in range(50) if index in mine] == sorted(one)
    assert mine.missing(count, completions) == [index for index in range(completions) if index not in one][:count]


# ---- policies


CODES = {"operator": "In", "values": [1, 42]}


@pytest.mark.parametrize(
    ("rule", "failure"),
    [
        ({"action": "Ignore", "onExitCodes": CODES}, PodFailure("Ignore", False)),
        ({"action": "Count", "onExitCodes": CODES}, PodFailure("Count", True)),
        ({"action": "FailIndex", "onExitCodes": CODES}, PodFailure("FailIndex", True)),
        (
            {"action": "FailJob", "onExitCodes": CODES},
            PodFailure(
                "FailJob", True, "Container c for pod n/p failed with exit code 42 matching FailJob rule at index 0"
            ),
        ),
        (
            {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            PodFailure("FailJob", True, "Pod n/p has condition DisruptionTarget matching FailJob rule at index 0"),
        ),
        ({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "False"}]}, PodFailure()),
        ({"action": "Ignore", "onExitCodes": {"operator": "NotIn", "values": [1]}}, PodFailure("Ignore", False)),
        ({"action": "Ignore", "onExitCodes": {"operator": "NotIn", "values": [42]}}, PodFailure()),
        ({"action": "Ignore", "onExitCodes": {**CODES, "containerName": "c"}}, PodFailure("Ignore", False)),
        ({"action": "Ignore", "onExitCodes": {**CODES, "containerName": "d"}}, PodFailure()),
        ({"action": "Unheard", "onExitCodes": CODES}, PodFailure()),
        ({"action": "Ignore", "onExitCodes": {"operator": "Exists", "values": [1]}}, PodFailure()),
    ],
)
def test_failure_rules_decide_the_effect_of_a_failure(rule: Any, failure: PodFailure) -> None:
    failed = pod("p", "Failed", exit_code=42)
    failed.status.conditions = [PodCondition(type="DisruptionTarget", status="True")]
    assert pod_failure(JobSpec.of(job(podFailurePolicy={"rules": [rule]})), failed) == failure


def test_exit_code_zero_matches_no_rule() -> None:
    rules = [{"action": "Ignore", "onExitCodes": {"operator": "NotIn", "values": [1]}}]
    failed = pod("p", "Failed", exit_code=0)
    assert pod_failure(JobSpec.of(job(podFailurePolicy={"rules": rules})), failed) == PodFailure()


def test_the_first_matching_rule_applies() -> None:
    rules = [{"action": action, "onExitCodes": CODES} for action in ("Count", "Ignore")]
    assert pod_failure(JobSpec.of(job(podFailurePolicy={"rules": rules})), pod("p", "Failed")).action == "Count"


@pytest.mark.parametrize(
    ("rule", "succeeded", "met"),
    [
        ({"succeededCount": 2}, [0], False),
        ({"succeededCount": 2}, [0, 4], True),
        ({"succeededIndexes": "1-3"}, [1, 3, 4], False),
        ({"succeededIndexes": "1-3"}, [0, 1, 2, 3], True),
        ({"succeededIndexes": "1-3", "succeededCount": 2}, [1, 3], True),
        ({"succeededIndexes": "1-3", "succeededCount": 2}, [0, 3, 4], False),
        ({"succeededIndexes": "x"}, [0], False),
    ],
)
def test_success_rules_decide_when_a_job_succeeds(rule: Any, succeeded: list[int], met: bool) -> None:
    spec = JobSpec.of(indexed(5, successPolicy={"rules": [{"succeededCount": 9}, rule]}))
    assert success_message(spec, Indexes.of(succeeded)) == ("Matched rules at index 1" if met else "")


# ---- backoff


@pytest.mark.parametrize(("count", "wait_s"), [(0, 0), (1, 10), (2, 20), (3, 40), (6, 320), (7, 600), (100, 600)])
def test_each_failure_doubles_the_backoff(count: int, wait_s: int) -> None:
    assert BackoffRecord(count, NOW).wait(NOW) == dt.timedelta(seconds=wait_s)


def test_backoff_counts_from_the_last_failure() -> None:
    failures = BackoffRecord(2, NOW - dt.timedelta(seconds=15))
    assert failures.wait(NOW) == dt.timedelta(seconds=5)
    assert failures.wait(NOW + dt.timedelta(hours=1)) == dt.timedelta()


def ended(uid: str, minute: int) -> Pod:
    """A Pod that ended at a time."""
    made = pod(uid, "Failed")
    made.status.container_statuses[0].state["terminated"]["finishedAt"] = f"2026-01-01T11:{minute:02}:00Z"
    return made


def test_failures_are_counted_from_the_last_success() -> None:
    minute = NOW.replace(hour=11)
    before = BackoffRecord(3, minute)
    assert before.after([], []) == before
    assert before.after([], [ended("a", 1), ended("b", 2)]) == BackoffRecord(5, minute.replace(minute=2))
    assert before.after([ended("c", 3)], []) == BackoffRecord()
    assert before.after([ended("c", 1)], [ended("a", 1), ended("b", 2)]) == BackoffRecord(1, minute.replace(minute=2))


def test_a_pod_ends_with_its_last_container() -> None:
    made = pod("p", "Failed")
    sidecar = {"terminated": {"exitCode": 0, "finishedAt": "2026-01-01T11:55:00Z"}}
    made.spec = PodSpec(init_containers=[InitContainer("s", "Always"), InitContainer("i")])
    made.status.init_container_statuses = [ContainerStatus(name="s", state=sidecar), ContainerStatus(name="i")]
    assert finished_at(made) == NOW.replace(hour=11, minute=55)


@pytest.mark.parametrize(
    ("ready_since", "deleting", "hour", "minute"),
    [("2026-01-01T11:30:00Z", True, 11, 30), (None, True, 11, 50), (None, False, 11, 0)],
    ids=["unready", "deleted", "created"],
)
def test_the_end_of_a_pod_without_container_statuses(
    ready_since: str | None, deleting: bool, hour: int, minute: int
) -> None:
    made = pod("p", deleting=deleting)
    made.status.conditions = [PodCondition(type="Ready", status="False", last_transition_time=ready_since)]
    assert finished_at(made) == NOW.replace(hour=hour, minute=minute)


# ---- outcomes


@pytest.mark.parametrize(
    ("obj", "pods", "reason"),
    [
        (job(), [pod("p")], None),
        (job(backoffLimit=1), [pod("p", "Failed")], None),
        (job(backoffLimit=0), [pod("p", "Failed")], "BackoffLimitExceeded"),
        (job({"failed": 1}, backoffLimit=1), [pod("p", "Failed")], "BackoffLimitExceeded"),
        (job(backoffLimit=0), [pod("p", deleting=True)], "BackoffLimitExceeded"),
        (job(backoffLimit=0, podReplacementPolicy="Failed"), [pod("p", deleting=True)], None),
        (job({"uncountedTerminatedPods": {"failed": ["p"]}}, backoffLimit=1), [pod("p", "Failed")], None),
        (job(activeDeadlineSeconds=3600), [pod("p")], "DeadlineExceeded"),
        (job(activeDeadlineSeconds=3601), [pod("p")], None),
        (job(activeDeadlineSeconds=60, suspend=True), [], None),
        (indexed(3, backoffLimitPerIndex=0), [pod("p", "Failed", index=0)], None),
        (
            indexed(3, {"completedIndexes": "1,2"}, backoffLimitPerIndex=0),
            [pod("p", "Failed", index=0)],
            "FailedIndexes",
        ),
        (
            indexed(3, backoffLimitPerIndex=0, maxFailedIndexes=0),
            [pod("p", "Failed", index=0)],
            "MaxFailedIndexesExceeded",
        ),
    ],
)
def test_reasons_for_the_failure_of_a_job(obj: Any, pods: list[Pod], reason: str | None) -> None:
    found = outcome(observed(obj, *pods))
    assert (found and (found["type"], found["reason"])) == (None if reason is None else ("FailureTarget", reason))


@pytest.mark.parametrize(("restarts", "limit", "fails"), [(1, 0, True), (0, 0, False), (2, 3, False), (3, 3, True)])
def test_restarts_in_place_count_too(restarts: int, limit: int, fails: bool) -> None:
    obj = job(backoffLimit=limit)
    obj["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
    running = pod("p")
    running.status.container_statuses = [ContainerStatus(name="c", restart_count=restarts)]
    assert (outcome(observed(obj, running)) is not None) == fails


def test_a_recorded_outcome_stays() -> None:
    target = {"type": "FailureTarget", "status": "True", "reason": "R", "message": "M"}
    found = outcome(observed(job({"conditions": [target]}), pod("p", "Succeeded")))
    assert found is not None
    assert (found["type"], found["reason"], found["message"]) == ("Failed", "R", "M")


def test_a_condition_becomes_false_only_if_it_was_true() -> None:
    status: Any = {}
    new: Any = {"type": "Suspended", "status": "False", "reason": "JobResumed", "message": ""}
    assert not put_condition(status, new)
    status["conditions"] = [{**new, "status": "True"}, {"type": "Other"}]
    assert put_condition(status, new)
    assert [each["type"] for each in status["conditions"]] == ["Suspended", "Other"]
    assert not put_condition(status, new)


# ---- plans


@pytest.mark.parametrize(
    ("obj", "pods", "delete", "create"),
    [
        (job(parallelism=3, completions=2), [], [], 2),
        (job(parallelism=3, completions=None), [], [], 3),
        (job({"succeeded": 1}, parallelism=3, completions=None), [pod("p")], [], 0),
        (job({"succeeded": 2}, parallelism=3, completions=4), [pod("p")], [], 1),
        (job(parallelism=1, completions=4), [pod("p"), pod("q", "Pending")], ["q"], 0),
        (job(suspend=True), [pod("p")], ["p"], 0),
        (job(parallelism=2, completions=2), [pod("p", deleting=True)], [], 2),
        (job(parallelism=2, completions=2, podReplacementPolicy="Failed"), [pod("p", deleting=True)], [], 1),
        (job(parallelism=0), [], [], 0),
        (job(parallelism=900, completions=900), [], [], BURST),
    ],
)
def test_the_plan_creates_or_deletes_pods(obj: Any, pods: list[Pod], delete: list[str], create: int) -> None:
    found = plan(observed(obj, *pods))
    assert ([each.metadata.uid for each in found.delete], len(found.create)) == (delete, create)


def test_pods_with_invalid_or_duplicate_indexes_are_deleted() -> None:
    pods = [pod("a", index=0), pod("b", "Pending", index=0), pod("c", index=7), pod("d"), pod("e", index=1)]
    found = plan(observed(indexed(3), *pods))
    assert sorted(each.metadata.uid for each in found.delete) == ["b", "c", "d"]


def test_the_first_free_indexes_are_taken() -> None:
    obj = indexed(9, {"completedIndexes": "0-2"}, parallelism=4)
    assert plan(observed(obj, pod("p", index=4))).create == [3, 5, 6]


def test_an_index_with_a_terminating_pod_may_have_to_wait() -> None:
    obj = indexed(3, podReplacementPolicy="Failed", parallelism=2)
    assert plan(observed(obj, pod("p", index=0, deleting=True))).create == [1]


def test_backoff_of_an_index_does_not_delay_other_indexes() -> None:
    obj = indexed(3, backoffLimitPerIndex=3, parallelism=3)
    failed = pod("p", "Failed", index=1, failures=1)
    state = observe(obj, [failed, pod("q", index=0)], NOW.replace(hour=11, minute=50, second=5), BackoffRecord())
    found = plan(state)
    assert (found.create, found.wait) == ([2], dt.timedelta(seconds=15))
    later = observe(obj, [failed, pod("q", index=0)], NOW, BackoffRecord())
    assert plan(later).create == [1, 2]
    annotations = new_pod(later, 1)["metadata"]["annotations"]
    assert annotations == {COMPLETION_INDEX: "1", FAILURE_COUNT: "2"}


def test_ignored_failures_of_an_index_are_counted_separately() -> None:
    rules = [{"action": "Ignore", "onExitCodes": CODES}]
    obj = indexed(1, backoffLimitPerIndex=0, podFailurePolicy={"rules": rules})
    annotations = new_pod(observed(obj, pod("p", "Failed", index=0)), 0)["metadata"]["annotations"]
    assert (annotations[FAILURE_COUNT], annotations[IGNORED_FAILURE_COUNT]) == ("0", "1")


def test_a_long_name_is_truncated_before_the_index() -> None:
    obj = indexed(200)
    obj["metadata"]["name"] = "a" * 60
    assert new_pod(observed(obj), 123)["metadata"]["generateName"] == "a" * 53 + "-123-"


# ---- counting


def test_a_status_lists_a_bounded_number_of_pods() -> None:
    pods = [pod(str(number), "Succeeded") for number in range(NAMED_MAX + 10)]
    status: Any = {}
    tally = name_terminated(observed(job(completions=1000), *pods), status, None)
    assert (len(tally.release), tally.full) == (NAMED_MAX, True)
    assert len(status["uncountedTerminatedPods"]["succeeded"]) == NAMED_MAX


class Cluster:
    """A Job and its Pods on a simulated server, and a controller that may be killed after each of its writes."""

    def __init__(self, obj: Any, pods: list[Pod]) -> None:
        self.job = obj
        self.pods = pods

    def reconcile(self, *, released: int, killed: int) -> None:
        """Reconcile once; only `released` finalizers are removed.

        The controller is killed after the first write, after the second one, or not at all.
        """
        state = observed(self.job, *self.pods)
        status = copy.deepcopy(self.job["status"])
        tracked = {each.metadata.uid for each in self.pods if is_tracked(each)}
        count_named(status, tracked)
        tally = name_terminated(state, status, None)
        self.job = {**self.job, "status": copy.deepcopy(status)}
        if killed == 1:
            return
        for each in tally.release[:released]:
            each.metadata.finalizers.remove(TRACKING_FINALIZER)
            tracked.discard(each.metadata.uid)
        if killed == 2:
            return
        count_named(status, tracked)
        self.job = {**self.job, "status": status}


@given(
    phases=st.lists(st.sampled_from(["Succeeded", "Failed", "Running"]), max_size=12),
    attempts=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), max_size=8),
    with_indexes=st.booleans(),
)
def test_each_pod_is_counted_once_whenever_the_controller_is_killed(
    phases: list[str], attempts: list[tuple[int, int]], with_indexes: bool
) -> None:
    number = max(len(phases), 1)
    obj = indexed(number) if with_indexes else job(completions=number)
    pods = [pod(f"p{index}", phase, index=index) for index, phase in enumerate(phases)]
    cluster = Cluster(obj, pods)
    for released, killed in attempts:
        cluster.reconcile(released=released, killed=killed)
        # A Pod without finalizer may be deleted at any time.
        cluster.pods = [each for each in cluster.pods if is_tracked(each) or not released]
    cluster.reconcile(released=100, killed=0)
    status = cluster.job["status"]
    assert status["uncountedTerminatedPods"] == {}
    assert status.get("succeeded", 0) == phases.count("Succeeded")
    assert status.get("failed", 0) == phases.count("Failed")
