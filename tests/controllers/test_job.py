"""Tests of Jobs on a server: Pods, counting, outcomes, suspension."""

import asyncio
import datetime as dt
import random
from collections.abc import Iterable

import pytest

from sampan.client import Client, DeleteOptions, MergePatch, TransportError
from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.component_base.resources import EVENTS, JOBS, PODS
from sampan.controllers import job as loop
from sampan.core.time import format_time
from sampan.resource import Object, meta
from sampan.testing.servers.in_process import InProcessTransport
from tests.client.connected import connected
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster, working
from tests.server.frame import MASTER

FINALIZER = "batch.kubernetes.io/job-tracking"


def job(**spec: object) -> Object:
    """A Job."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    return {"metadata": {"name": "a"}, "spec": {"template": template, **spec}}


def indexed(completions: int, **spec: object) -> Object:
    """A Job with an index for each Pod."""
    return job(**{"completions": completions, "parallelism": completions, "completionMode": "Indexed", **spec})


async def end(c: Working, pod: Object, phase: str, *, exit_code: int = 1, at: dt.datetime | None = None) -> None:
    """End a Pod."""
    finished = format_time(at or dt.datetime.now(dt.UTC) - dt.timedelta(hours=1))
    state = {"terminated": {"exitCode": 0 if phase == "Succeeded" else exit_code, "finishedAt": finished}}
    status = {"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": state}
    await c.patch_status(PODS, pod["metadata"]["name"], {"phase": phase, "containerStatuses": [status]})


async def end_all(c: Working, pods: Iterable[Object], phase: str) -> None:
    """End Pods."""
    for pod in pods:
        await end(c, pod, phase)


def condition(obj: Object, type: str) -> Object | None:
    """A condition that is true."""
    conditions = obj.get("status", {}).get("conditions", ())
    return next((each for each in conditions if (each["type"], each["status"]) == (type, "True")), None)


async def until_condition(c: Working, type: str) -> Object:
    """Wait until a condition is true, and return the Job."""
    return await c.until(JOBS, "a", lambda obj: condition(obj, type))


async def events_of(c: Working, reason: str, *, count: int = 1) -> list[Object]:
    """Wait for a number of events with a reason, and return them."""

    def of(events: list[Object]) -> list[Object]:
        return [event for event in events if event.get("reason") == reason]

    return of(await c.until_all(EVENTS, lambda events: len(of(events)) == count))


async def active(c: Working, count: int) -> list[Object]:
    """Wait for a number of active Pods, and return them."""

    def of(pods: list[Object]) -> list[Object]:
        going = [pod for pod in pods if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
        return [pod for pod in going if "deletionTimestamp" not in pod["metadata"]]

    return of(await c.until_all(PODS, lambda pods: len(of(pods)) == count))


def index_of(pod: Object) -> int:
    """The index of a Pod."""
    return int(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"])


async def test_pods_have_the_finalizer_until_they_are_counted() -> None:
    async with cluster(loop.set_up) as c:
        owner = await c.create(JOBS, job(parallelism=2, completions=3))
        pods = await active(c, 2)
        for made in pods:
            [reference] = meta(made).owner_references
            assert (reference.kind, reference.uid, reference.controller) == ("Job", meta(owner).uid, True)
            assert meta(made).finalizers == [FINALIZER]
            assert made["metadata"]["generateName"] == "a-"
            assert made["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "a"
        found = await c.until(JOBS, "a", lambda obj: obj["status"].get("active") == 2)
        assert found["status"]["startTime"]
        desired = {"active": 2, "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}
        assert {name: found["status"].get(name) for name in desired} == desired
        await c.make_ready(pods[0])
        await c.until(JOBS, "a", lambda obj: obj["status"]["ready"] == 1)


async def test_a_job_is_complete_when_enough_pods_have_succeeded() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(parallelism=2, completions=3))
        await end_all(c, await active(c, 2), "Succeeded")
        await end_all(c, await active(c, 1), "Succeeded")
        done = await until_condition(c, "Complete")
        status = done["status"]
        assert (status["succeeded"], status.get("active"), status.get("failed")) == (3, None, None)
        assert [each["type"] for each in status["conditions"]] == ["SuccessCriteriaMet", "Complete"]
        for each in status["conditions"]:
            assert each["reason"] == "CompletionsReached"
            assert each["message"] == "Reached expected number of succeeded pods"
        assert status["completionTime"] == condition(done, "Complete")["lastTransitionTime"]  # type: ignore[index]
        assert all(not meta(pod).finalizers for pod in await c.all(PODS))
        [event] = await events_of(c, "Completed")
        assert event["message"] == "Job completed"
        assert len(await events_of(c, "SuccessfulCreate", count=3)) == 3


async def test_a_work_queue_is_complete_when_one_has_succeeded_and_all_have_ended() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(parallelism=3))
        await c.patch(JOBS, "a", {"metadata": {"labels": {"a": "b"}}})
        first, *others = await active(c, 3)
        await end(c, first, "Succeeded")
        await c.until(JOBS, "a", lambda obj: obj["status"].get("succeeded") == 1)
        assert len(await active(c, 2)) == 2
        await end_all(c, others, "Failed")
        done = await until_condition(c, "Complete")
        assert (done["status"]["succeeded"], done["status"]["failed"]) == (1, 2)


async def test_a_failed_pod_is_replaced_after_backoff() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        await c.create(JOBS, job())
        [first] = await active(c, 1)
        await end(c, first, "Failed", at=clock.now())
        await c.until(JOBS, "a", lambda obj: obj["status"].get("failed") == 1)
        assert not await active(c, 0)
        clock.forward(11)
        await c.patch(JOBS, "a", {"spec": {"parallelism": 2}})
        await active(c, 1)


async def test_a_job_fails_at_its_backoff_limit() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(parallelism=2, completions=2, backoffLimit=0))
        first, _ = await active(c, 2)
        await end(c, first, "Failed")
        over = await until_condition(c, "Failed")
        final = condition(over, "Failed")
        assert final is not None
        assert (final["reason"], final["message"]) == (
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
        )
        assert condition(over, "FailureTarget") is not None
        assert (over["status"]["failed"], over["status"].get("active")) == (2, None)
        [event] = await events_of(c, "BackoffLimitExceeded")
        assert event["type"] == "Warning"
        await c.until_all(PODS, lambda pods: len(pods) == 1)


async def test_a_job_fails_after_its_active_deadline() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        await c.create(JOBS, job(activeDeadlineSeconds=60))
        await active(c, 1)
        clock.forward(60)
        await c.patch(JOBS, "a", {"spec": {"parallelism": 2}})
        over = await until_condition(c, "Failed")
        final = condition(over, "Failed")
        assert final is not None
        assert (final["reason"], final["message"]) == (
            "DeadlineExceeded",
            "Job was active longer than specified deadline",
        )
        await events_of(c, "DeadlineExceeded")


async def test_the_active_deadline_needs_no_event() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(activeDeadlineSeconds=1))
        await until_condition(c, "Failed")


async def test_a_failed_job_ends_only_when_its_pods_have_ended() -> None:
    async with cluster(loop.set_up) as c:
        owner = job(parallelism=2, completions=2, backoffLimit=0)
        owner["spec"]["template"]["metadata"] = {"finalizers": ["example.com/hold"]}
        await c.create(JOBS, owner)
        first, second = await active(c, 2)
        await end(c, first, "Failed")
        waiting = await c.until(JOBS, "a", lambda obj: obj["status"].get("terminating") == 1)
        assert condition(waiting, "FailureTarget")
        assert condition(waiting, "Failed") is None
        await c.patch(PODS, second["metadata"]["name"], {"metadata": {"finalizers": None}})
        over = await until_condition(c, "Failed")
        assert over["status"]["terminating"] == 0


async def test_an_indexed_job_passes_indexes_to_pods_and_counts_by_them() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, indexed(4))
        pods = sorted(await active(c, 4), key=index_of)
        assert [index_of(pod) for pod in pods] == [0, 1, 2, 3]
        for index, pod in enumerate(pods):
            assert pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == str(index)
            assert pod["spec"]["hostname"] == f"a-{index}"
            assert pod["metadata"]["generateName"] == f"a-{index}-"
            [variable] = pod["spec"]["containers"][0]["env"]
            assert variable["name"] == "JOB_COMPLETION_INDEX"
            path = "metadata.labels['batch.kubernetes.io/job-completion-index']"
            assert variable["valueFrom"]["fieldRef"]["fieldPath"] == path
        await end_all(c, [pods[0], pods[2], pods[3]], "Succeeded")
        await c.until(JOBS, "a", lambda obj: obj["status"].get("completedIndexes") == "0,2,3")
        await end(c, pods[1], "Failed")
        [again] = await active(c, 1)
        assert index_of(again) == 1
        await end(c, again, "Succeeded")
        done = await until_condition(c, "Complete")
        status = done["status"]
        assert (status["completedIndexes"], status["succeeded"], status["failed"]) == ("0-3", 4, 1)


async def test_indexes_have_a_backoff_limit_and_the_job_fails_at_its_end() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, indexed(2, backoffLimitPerIndex=1))
        zero, one = sorted(await active(c, 2), key=index_of)
        assert zero["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] == "0"
        await end(c, zero, "Failed")
        await c.until_all(PODS, lambda pods: len(pods) == 3)
        again = next(pod for pod in await active(c, 2) if index_of(pod) == 0)
        assert again["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] == "1"
        await end(c, again, "Failed")
        await c.until(JOBS, "a", lambda obj: obj["status"].get("failedIndexes") == "0")
        await end(c, one, "Succeeded")
        over = await until_condition(c, "Failed")
        final = condition(over, "Failed")
        assert final is not None
        assert (final["reason"], final["message"]) == ("FailedIndexes", "Job has failed indexes")
        status = over["status"]
        assert (status["failedIndexes"], status["completedIndexes"], status["failed"]) == ("0", "1", 2)


async def test_a_job_fails_after_too_many_failed_indexes() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, indexed(3, backoffLimitPerIndex=0, maxFailedIndexes=1))
        pods = sorted(await active(c, 3), key=index_of)
        await end_all(c, pods[:2], "Failed")
        over = await until_condition(c, "Failed")
        final = condition(over, "Failed")
        assert final is not None
        assert final["reason"] == "MaxFailedIndexesExceeded"
        assert over["status"]["failedIndexes"] == "0,1"


async def test_a_success_policy_ends_a_job_early() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, indexed(3, successPolicy={"rules": [{"succeededIndexes": "1"}]}))
        pods = sorted(await active(c, 3), key=index_of)
        await end(c, pods[1], "Succeeded")
        done = await until_condition(c, "Complete")
        final = condition(done, "Complete")
        assert final is not None
        assert (final["reason"], final["message"]) == ("SuccessPolicy", "Matched rules at index 0")
        status = done["status"]
        assert (status["completedIndexes"], status["succeeded"], status.get("failed")) == ("1", 1, None)
        await c.until_all(PODS, lambda found: len(found) == 1)


POLICY = {
    "rules": [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    ]
}


async def test_an_exit_code_can_fail_a_job_immediately() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(podFailurePolicy=POLICY))
        [pod] = await active(c, 1)
        await end(c, pod, "Failed", exit_code=42)
        over = await until_condition(c, "Failed")
        final = condition(over, "Failed")
        assert final is not None
        name = pod["metadata"]["name"]
        assert final["reason"] == "PodFailurePolicy"
        assert final["message"] == (
            f"Container c for pod default/{name} failed with exit code 42 matching FailJob rule at index 0"
        )


async def test_disrupted_pods_can_be_ignored() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(podFailurePolicy=POLICY, backoffLimit=0))
        [pod] = await active(c, 1)
        disruption = {"type": "DisruptionTarget", "status": "True"}
        await c.patch_status(PODS, pod["metadata"]["name"], {"conditions": [disruption]})
        await end(c, pod, "Failed")
        [again] = await active(c, 1)
        assert again["metadata"]["name"] != pod["metadata"]["name"]
        assert not meta(await c.get(PODS, pod["metadata"]["name"])).finalizers
        await end(c, again, "Succeeded")
        done = await until_condition(c, "Complete")
        assert done["status"].get("failed") is None


async def test_a_suspended_job_has_no_pods_and_restarts_when_resumed() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        await c.create(JOBS, job(parallelism=2, completions=2))
        await active(c, 2)
        await c.patch(JOBS, "a", {"spec": {"suspend": True}})
        stopped = await until_condition(c, "Suspended")
        reason = condition(stopped, "Suspended")
        assert reason is not None
        assert (reason["reason"], reason["message"]) == ("JobSuspended", "Job suspended")
        assert "startTime" not in stopped["status"]
        await c.until_all(PODS, lambda pods: not pods)
        clock.forward(3600)
        await c.patch(JOBS, "a", {"spec": {"suspend": False}})
        await active(c, 2)
        going = await c.until(JOBS, "a", lambda obj: condition(obj, "Suspended") is None)
        [resumed] = going["status"]["conditions"]
        assert (resumed["status"], resumed["reason"], resumed["message"]) == ("False", "JobResumed", "Job resumed")
        assert going["status"]["startTime"] == format_time(clock.now())
        assert going["status"].get("failed") is None
        await events_of(c, "Suspended")
        await events_of(c, "Resumed")


async def test_a_job_created_suspended_creates_no_pods() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(suspend=True))
        stopped = await until_condition(c, "Suspended")
        assert "startTime" not in stopped["status"]
        assert await c.all(PODS) == []


async def test_a_deleted_pod_counts_as_failed_and_is_replaced() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job())
        [pod] = await active(c, 1)
        name = pod["metadata"]["name"]
        await c.delete(PODS, name)
        await c.until_gone(PODS, name)
        await c.until(JOBS, "a", lambda obj: obj["status"].get("failed") == 1)


async def test_lower_parallelism_deletes_pods_without_counting_failures() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(parallelism=4, completions=8))
        await active(c, 4)
        await c.patch(JOBS, "a", {"spec": {"parallelism": 1}})
        await c.pods(1)
        found = await c.until(JOBS, "a", lambda obj: obj["status"].get("active") == 1)
        assert found["status"].get("failed") is None


async def test_jobs_of_other_controllers_are_ignored() -> None:
    async with cluster(loop.set_up) as c:
        theirs = job(managedBy="example.com/controller")
        theirs["metadata"]["name"] = "theirs"
        await c.create(JOBS, theirs)
        await c.create(JOBS, job())
        [made] = await active(c, 1)
        assert meta(made).owner_references[0].name == "a"
        assert not (await c.get(JOBS, "theirs")).get("status")


async def test_a_matching_orphan_is_adopted_and_released_when_it_stops_matching() -> None:
    async with cluster(loop.set_up) as c:
        owner = job(manualSelector=True, selector={"matchLabels": {"app": "a"}})
        owner["spec"]["template"]["metadata"] = {"labels": {"app": "a"}}
        spec = owner["spec"]["template"]["spec"]
        await c.create(PODS, {"metadata": {"name": "orphan", "labels": {"app": "a"}}, "spec": spec})
        made = await c.create(JOBS, owner)
        adopted = await c.until(PODS, "orphan", lambda obj: meta(obj).owner_references)
        assert meta(adopted).owner_references[0].uid == meta(made).uid
        assert meta(adopted).finalizers == [FINALIZER]
        await c.until(JOBS, "a", lambda obj: obj.get("status", {}).get("active") == 1)
        assert len(await c.all(PODS)) == 1
        await c.patch(PODS, "orphan", {"metadata": {"labels": {"app": "b"}}})
        released = await c.until(PODS, "orphan", lambda obj: not meta(obj).owner_references)
        assert not meta(released).finalizers
        await active(c, 2)


async def test_a_job_that_is_being_deleted_releases_pods_and_creates_none() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(parallelism=1, completions=3))
        [pod] = await active(c, 1)
        await c.client.resource(JOBS).delete("a", DeleteOptions(propagation_policy="Foreground"))
        await c.until(PODS, meta(pod).name, lambda obj: not meta(obj).finalizers)
        await c.delete(PODS, meta(pod).name)
        await c.until(JOBS, "a", lambda obj: not obj["status"].get("active"))
        assert await c.all(PODS) == []


async def test_pods_of_a_finished_job_are_released() -> None:
    async with connected() as (client, _):
        async with working(client, loop.set_up) as c:
            await c.create(JOBS, job())
            [pod] = await active(c, 1)
            await c.until(JOBS, "a", lambda obj: obj["status"].get("active"))
        conditions = [{"type": type, "status": "True"} for type in ("FailureTarget", "Failed")]
        await c.patch_status(JOBS, "a", {"active": 0, "conditions": conditions})
        async with working(client, loop.set_up) as c:
            await c.until(PODS, meta(pod).name, lambda obj: not meta(obj).finalizers)


async def test_pods_of_a_deleted_job_are_released() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job(parallelism=2, completions=2))
        first, second = await active(c, 2)
        await c.client.resource(JOBS).delete("a", DeleteOptions(propagation_policy="Background"))
        await c.until_gone(JOBS, "a")
        for pod in (first, second):
            await c.until(PODS, pod["metadata"]["name"], lambda obj: not meta(obj).finalizers)


async def test_an_orphan_with_the_finalizer_is_released() -> None:
    async with cluster(loop.set_up) as c:
        spec = job()["spec"]["template"]["spec"]
        await c.create(PODS, {"metadata": {"name": "p", "finalizers": [FINALIZER]}, "spec": spec})
        await c.until(PODS, "p", lambda obj: not meta(obj).finalizers)


@pytest.mark.parametrize("released", [0, 1, 3], ids=["named", "partly released", "released"])
async def test_a_crash_between_the_steps_counts_each_pod_once(released: int) -> None:
    async with connected() as (client, _):
        async with working(client, loop.set_up) as c:
            await c.create(JOBS, job(parallelism=3, completions=5))
            pods = await active(c, 3)
            await c.until(JOBS, "a", lambda obj: obj["status"].get("active") == 3)
        await end_all(c, pods, "Succeeded")
        uids = [meta(pod).uid for pod in pods]
        await c.patch_status(JOBS, "a", {"uncountedTerminatedPods": {"succeeded": uids}})
        for pod in pods[:released]:
            change = MergePatch({"metadata": {"finalizers": None}})
            await client.resource(PODS).patch(meta(pod).name, change)
        async with working(client, loop.set_up) as c:
            found = await c.until(JOBS, "a", lambda obj: obj["status"].get("succeeded") == 3)
            assert found["status"]["uncountedTerminatedPods"] == {}
            await end_all(c, await active(c, 2), "Succeeded")
            done = await until_condition(c, "Complete")
            assert done["status"]["succeeded"] == 5


class Forgetful:
    """Loses the responses of some patches that the server has applied."""

    def __init__(self, inner: Transport, seed: int) -> None:
        self._inner = inner
        self._random = random.Random(seed)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send the request; the response may get lost."""
        response = await self._inner.send(request)
        if request.method == "PATCH" and self._random.random() < 0.3:
            await response.aclose()
            raise TransportError("the answer is lost", sent=True)
        return response

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()


@pytest.mark.parametrize("seed", [1, 2])
async def test_each_pod_is_counted_once_although_responses_are_lost(seed: int) -> None:
    async with connected() as (client, api):
        inner = InProcessTransport(api.server.handler, headers={**MASTER, "user-agent": "tests/1"})
        async with (
            Client(Forgetful(inner, seed), field_manager="tests") as forgetful,
            working(forgetful, loop.set_up) as at_work,
        ):
            c = Working(client, at_work.manager)
            await c.create(JOBS, job(parallelism=4, completions=8, backoffLimit=100))
            phases = ["Failed"] * 3 + ["Succeeded"] * 8
            done: set[str] = set()
            async with asyncio.timeout(60):
                while phases:
                    for pod in await c.all(PODS):
                        if phases and meta(pod).uid not in done:
                            done.add(meta(pod).uid)
                            await end(c, pod, phases.pop(0))
                    await asyncio.sleep(0.01)
            status = (await until_condition(c, "Complete"))["status"]
            assert (status["succeeded"], status["failed"], status["uncountedTerminatedPods"]) == (8, 3, {})
