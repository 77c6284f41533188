"""Tests of CronJobs: schedules, started Jobs, history and status."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.component_base.resources import CRON_JOBS, EVENTS, JOBS
from sampan.controllers import cron_job as loop
from sampan.controllers.cron_job.jobs import history, new_job
from sampan.controllers.cron_job.schedule import ScheduleError, due, missed, wait_s
from sampan.controllers.cron_job.source import JobChanged
from sampan.core.cron import Schedule, parse_schedule
from sampan.core.time import format_time, parse_time
from sampan.informer import Ref
from sampan.resource import meta
from tests.client.connected import connected
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster, working
from tests.operator.refs import ref

TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def cron_job(schedule: str = "* * * * *", **spec: object) -> Any:
    """A CronJob."""
    template = {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {"template": TEMPLATE}}
    return {"metadata": {"name": "c"}, "spec": {"schedule": schedule, "jobTemplate": template, **spec}}


async def event_notes(c: Working, reason: str) -> list[str]:
    """Wait for events with a reason, and return their notes."""

    def of(events: list[Any]) -> list[str]:
        return [event["message"] for event in events if event.get("reason") == reason]

    return of(await c.until_all(EVENTS, of))


async def trigger(c: Working) -> None:
    """Trigger a reconciliation now."""
    found = await c.get(CRON_JOBS, "c")
    triggers = int(found["metadata"].get("annotations", {}).get("triggers", "0")) + 1
    await c.patch(CRON_JOBS, "c", {"metadata": {"annotations": {"triggers": str(triggers)}}})


async def jobs(c: Working, count: int) -> list[Any]:
    """Wait for a number of Jobs, and return them from oldest to newest."""
    found = await c.until_all(JOBS, lambda all_jobs: len(all_jobs) == count)
    return sorted(found, key=lambda job: job["metadata"]["name"])


async def finish(c: Working, job: Any, how: str) -> None:
    """Finish a Job."""
    now = format_time(dt.datetime.now(dt.UTC))
    target = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}[how]
    conditions = [{"type": type, "status": "True", "lastTransitionTime": now} for type in (target, how)]
    status: Any = {"startTime": now, "conditions": conditions}
    if how == "Complete":
        status["completionTime"] = now
    await c.patch_status(JOBS, job["metadata"]["name"], status)


async def started(c: Working, clock: SetClock, **spec: object) -> Any:
    """Wait for the first Job of a CronJob that runs every minute."""
    await c.create(CRON_JOBS, cron_job(**spec))  # type: ignore[arg-type]
    return await next_job(c, clock, 1)


async def next_job(c: Working, clock: SetClock, count: int) -> Any:
    """Advance the clock and return the newest of `count` Jobs."""
    clock.forward(120)  # More than a minute, because the server's clock, which sets the creation time, runs on.
    await trigger(c)
    return (await jobs(c, count))[-1]


async def test_a_job_is_created_when_it_is_due() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        made = await started(c, clock)
        owner = await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("active"))
        minute = clock.now().replace(second=0)
        assert meta(made).name == f"c-{int(minute.timestamp()) // 60}"
        [reference] = meta(made).owner_references
        assert (reference.kind, reference.uid, reference.controller) == ("CronJob", meta(owner).uid, True)
        assert made["metadata"]["labels"] == {"a": "b"}
        assert made["metadata"]["annotations"] == {"c": "d", SCHEDULED: format_time(minute)}
        [listed] = owner["status"]["active"]
        assert (listed["kind"], listed["apiVersion"], listed["name"]) == ("Job", "batch/v1", meta(made).name)
        assert listed["uid"] == meta(made).uid
        assert owner["status"]["lastScheduleTime"] == format_time(minute)
        assert await event_notes(c, "SuccessfulCreate") == [f"Created job {meta(made).name}"]


async def test_due_jobs_are_created_without_any_event() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(CRON_JOBS, cron_job("@every 1s"))
        # Jobs of the same minute have the same name.
        await jobs(c, 1)


async def test_finished_jobs_cause_events_and_set_the_last_successful_time() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        made = await started(c, clock)
        await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("active"))
        await finish(c, made, "Complete")
        found = await c.until(CRON_JOBS, "c", lambda obj: not obj["status"].get("active"))
        assert parse_time(found["status"]["lastSuccessfulTime"])
        assert await event_notes(c, "SawCompletedJob") == [f"Saw completed job: {meta(made).name}, condition: Complete"]


async def test_forbid_starts_no_job_while_one_runs() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        made = await started(c, clock, concurrencyPolicy="Forbid")
        await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("active"))
        clock.forward(60)
        await trigger(c)
        [note] = await event_notes(c, "JobAlreadyActive")
        assert note == "Not starting job because prior execution is running and concurrency policy is Forbid"
        assert len(await c.all(JOBS)) == 1
        await finish(c, made, "Complete")
        await jobs(c, 2)


async def test_replace_deletes_a_running_job() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        made = await started(c, clock, concurrencyPolicy="Replace")
        await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("active"))
        clock.forward(60)
        await trigger(c)
        await c.until_gone(JOBS, meta(made).name)
        [other] = await jobs(c, 1)

        def lists_other(obj: Any) -> bool:
            return [each["name"] for each in obj["status"].get("active", ())] == [meta(other).name]

        await c.until(CRON_JOBS, "c", lists_other)
        assert await event_notes(c, "SuccessfulDelete") == [f"Deleted job {meta(made).name}"]


async def test_allow_runs_jobs_concurrently() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        await started(c, clock)
        await next_job(c, clock, 2)
        await c.until(CRON_JOBS, "c", lambda obj: len(obj["status"].get("active", ())) == 2)


async def test_history_limits_bound_the_number_of_finished_jobs() -> None:
    clock = SetClock()
    limits = {"successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 0}
    async with cluster(loop.set_up, clock=clock) as c:
        first = await started(c, clock, **limits)
        second = await next_job(c, clock, 2)
        third = await next_job(c, clock, 3)
        await finish(c, first, "Complete")
        await finish(c, second, "Complete")
        await finish(c, third, "Failed")
        [left] = await jobs(c, 1)
        assert meta(left).name == meta(second).name


async def test_a_suspended_cron_job_starts_no_jobs_until_it_is_resumed() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        await c.create(CRON_JOBS, cron_job(suspend=True))
        clock.forward(60)
        await trigger(c)
        other = cron_job()
        other["metadata"]["name"] = "other"
        await c.create(CRON_JOBS, other)
        clock.forward(60)
        await c.patch(CRON_JOBS, "other", {"metadata": {"annotations": {"triggers": "1"}}})
        [made] = await jobs(c, 1)
        assert meta(made).owner_references[0].name == "other"
        await c.patch(CRON_JOBS, "c", {"spec": {"suspend": False}})
        await jobs(c, 2)


async def test_a_start_after_the_deadline_is_missed() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        coming = (clock.now() + dt.timedelta(minutes=10)).replace(second=0)
        await c.create(CRON_JOBS, cron_job(f"{coming.minute} * * * *", startingDeadlineSeconds=10))
        clock.forward((coming - clock.now()).total_seconds() + 11)
        await trigger(c)
        clock.forward(3600 - 11)
        await trigger(c)
        [made] = await jobs(c, 1)
        assert made["metadata"]["annotations"][SCHEDULED] == format_time(clock.now())


async def test_after_many_missed_starts_the_latest_is_started_with_a_warning() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        await c.create(CRON_JOBS, cron_job())
        clock.forward(150 * 60)
        await trigger(c)
        [made] = await jobs(c, 1)
        assert made["metadata"]["annotations"][SCHEDULED] == format_time(clock.now().replace(second=0))
        [note] = await event_notes(c, "TooManyMissedTimes")
        assert note.startswith("too many missed start times")


async def test_a_new_schedule_has_no_missed_starts() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        await c.create(CRON_JOBS, cron_job("0 0 1 1 *"))
        clock.forward(600)
        await c.patch(CRON_JOBS, "c", {"spec": {"schedule": "* * * * *"}})
        other = cron_job()
        other["metadata"]["name"] = "other"
        await c.create(CRON_JOBS, other)
        clock.forward(60)
        await c.patch(CRON_JOBS, "other", {"metadata": {"annotations": {"triggers": "1"}}})
        [made] = await jobs(c, 1)
        assert meta(made).owner_references[0].name == "other"


async def test_a_job_that_a_user_created_causes_an_event() -> None:
    async with cluster(loop.set_up) as c:
        owner = await c.create(CRON_JOBS, cron_job("0 0 1 1 *"))
        reference = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "c", "uid": meta(owner).uid}
        metadata = {"name": "hand", "ownerReferences": [{**reference, "controller": True}]}
        made = await c.create(JOBS, {"metadata": metadata, "spec": {"template": TEMPLATE}})
        assert await event_notes(c, "UnexpectedJob") == ["Saw a job that the controller did not create or forgot: hand"]
        await finish(c, made, "Complete")
        await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("lastSuccessfulTime"))


async def test_a_deleted_job_is_removed_from_the_active_ones() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        made = await started(c, clock)
        await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("active"))
        await c.delete(JOBS, meta(made).name)
        await c.patch(JOBS, meta(made).name, {"metadata": {"finalizers": None}})
        await c.until(CRON_JOBS, "c", lambda obj: not obj["status"].get("active"))
        assert await event_notes(c, "MissingJob") == [f"Active job went missing: {meta(made).name}"]


async def test_a_crash_after_creating_a_job_does_not_start_it_twice() -> None:
    clock = SetClock()
    async with connected() as (client, _):
        async with working(client, loop.set_up, clock=clock) as c:
            made = await started(c, clock)
            await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("active"))
        await c.patch_status(CRON_JOBS, "c", {"active": None, "lastScheduleTime": None})
        async with working(client, loop.set_up, clock=clock) as c:
            found = await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("active"))
            assert [each["uid"] for each in found["status"]["active"]] == [meta(made).uid]
            assert len(await c.all(JOBS)) == 1


async def test_a_crash_does_not_start_a_job_twice_after_history_cleanup() -> None:
    clock = SetClock()
    async with connected() as (client, _):
        async with working(client, loop.set_up, clock=clock) as c:
            made = await started(c, clock, successfulJobsHistoryLimit=0)
            await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("active"))
        await c.patch_status(CRON_JOBS, "c", {"active": None, "lastScheduleTime": None})
        await finish(c, made, "Complete")
        async with working(client, loop.set_up, clock=clock) as c:
            await c.until_gone(JOBS, meta(made).name)
            found = await c.until(CRON_JOBS, "c", lambda obj: obj.get("status", {}).get("lastSuccessfulTime"))
            assert found["status"]["lastScheduleTime"] == made["metadata"]["annotations"][SCHEDULED]
            assert await c.all(JOBS) == []


async def test_a_concurrent_change_of_the_spec_keeps_the_status_update() -> None:
    clock = SetClock()
    async with cluster(loop.set_up, clock=clock) as c:
        await started(c, clock)
        for number in range(5):
            await c.patch(CRON_JOBS, "c", {"spec": {"startingDeadlineSeconds": 1000 + number}})
        await c.until(CRON_JOBS, "c", lambda obj: len(obj["status"].get("active", ())) == 1)
        assert len(await c.all(JOBS)) == 1


# ---- decisions


def made_at(created: str, schedule: str = "* * * * *", **spec: object) -> Any:
    """A CronJob created at a time."""
    obj = cron_job(schedule, **spec)
    obj["metadata"] |= {"creationTimestamp": created, "namespace": "n", "uid": "u"}
    return {"apiVersion": "batch/v1", "kind": "CronJob", **obj}


def at(text: str) -> dt.datetime:
    """An instant."""
    return dt.datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("schedule", "now", "latest", "starts"),
    [
        ("0 * * * *", "2026-01-01T10:59:00Z", None, 0),
        ("0 * * * *", "2026-01-01T11:00:00Z", "2026-01-01T11:00:00Z", 0),
        ("0 * * * *", "2026-01-01T12:30:00Z", "2026-01-01T12:00:00Z", 2),
        ("*/5 * * * *", "2026-01-08T10:03:00Z", "2026-01-08T10:00:00Z", 2016),
        ("30 6-16/4 * * 1-5", "2026-01-05T09:00:00Z", "2026-01-05T06:30:00Z", 24),
        ("@every 7m", "2026-01-01T11:05:30Z", "2026-01-01T11:03:30Z", 9),
    ],
)
def test_the_latest_missed_time_and_the_number_of_missed_starts(
    schedule: str, now: str, latest: str | None, starts: int
) -> None:
    found = missed(parse_schedule(schedule), at("2026-01-01T10:00:30Z"), at(now))
    assert found == (None if latest is None else at(latest), starts)


def test_a_schedule_that_is_never_due_is_an_error() -> None:
    with pytest.raises(ScheduleError, match="time difference between two schedules is less than 1 second"):
        missed(parse_schedule("59 23 31 2 *"), at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"))


@given(
    schedule=st.sampled_from(["* * * * *", "*/15 * * * *", "@every 90s", "7 * * * *"]),
    since_s=st.integers(0, 10**6),
    passed_s=st.integers(0, 10**5),
)
def test_the_latest_missed_time_equals_that_of_a_linear_search(schedule: str, since_s: int, passed_s: int) -> None:
    since = at("2026-01-01T00:00:00Z") + dt.timedelta(seconds=since_s)
    now = since + dt.timedelta(seconds=passed_s)
    assert missed(parse_schedule(schedule), since, now).latest == walk(schedule, since, now)


@given(
    schedule=st.sampled_from(["5 3,4,9 * * *", "0 0 * * 1,2", "0,10 */6 2-8 * *", "0 0 29 2,3 *"]),
    since_s=st.integers(0, 10**7),
    passed_s=st.integers(0, 10**7),
)
def test_with_uneven_intervals_the_latest_time_is_correct_or_missing(
    schedule: str, since_s: int, passed_s: int
) -> None:
    # As in Kubernetes, which assumes that all intervals equal the first. The next time is always found.
    since = at("2026-01-01T00:00:00Z") + dt.timedelta(seconds=since_s)
    now = since + dt.timedelta(seconds=passed_s)
    assert missed(parse_schedule(schedule), since, now).latest in (None, walk(schedule, since, now))


def walk(schedule: str, since: dt.datetime, now: dt.datetime) -> dt.datetime | None:
    """Find the latest time by linear search."""
    parsed = parse_schedule(schedule)
    latest, coming = None, parsed.next_after(since)
    while coming is not None and coming <= now:
        latest, coming = coming, parsed.next_after(coming)
    return latest


def test_many_times_after_a_long_pause_are_searched_by_bisection(monkeypatch: pytest.MonkeyPatch) -> None:
    requested = 0
    next_after = Schedule.next_after

    def counted(schedule: Schedule, instant: dt.datetime) -> dt.datetime | None:
        nonlocal requested
        requested += 1
        return next_after(schedule, instant)

    monkeypatch.setattr(Schedule, "next_after", counted)
    found = missed(parse_schedule("* * * 1 *"), at("2001-01-31T23:58:30Z"), at("2026-06-01T00:00:00Z"))
    assert found.latest == at("2026-01-31T23:59:00Z")
    assert requested < 50


@pytest.mark.parametrize("last", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
@pytest.mark.parametrize("schedule", ["* * * * *", "@every 2562047h"])
def test_extreme_times_in_a_status_are_accepted(schedule: str, last: str) -> None:
    found: Any = {**cron_job(schedule, startingDeadlineSeconds=2**63 - 1), "status": {"lastScheduleTime": last}}
    now = at("2026-01-01T00:00:30Z")
    assert (wait_s(found, parse_schedule(schedule), now) or 0) >= 0


def test_starts_before_the_deadline_window_are_not_due() -> None:
    obj = made_at("2026-01-01T00:00:00Z", "0 * * * *", startingDeadlineSeconds=60)
    assert due(obj, parse_schedule("0 * * * *"), at("2026-01-01T05:02:00Z")).latest is None
    assert due(obj, parse_schedule("0 * * * *"), at("2026-01-01T05:00:30Z")).latest == at("2026-01-01T05:00:00Z")


def test_the_next_reconciliation_is_shortly_after_the_next_time() -> None:
    obj = made_at("2026-01-01T00:00:00Z", "0 * * * *")
    assert wait_s(obj, parse_schedule("0 * * * *"), at("2026-01-01T05:02:00Z")) == pytest.approx(58 * 60 + 0.1)


def test_the_scheduled_timestamp_is_in_the_time_zone() -> None:
    obj = made_at("2026-07-01T00:00:00Z", timeZone="Europe/Berlin")
    job = new_job(obj, at("2026-07-01T10:00:00Z"))
    assert job["metadata"]["annotations"][SCHEDULED] == "2026-07-01T12:00:00+02:00"
    assert job["metadata"]["name"] == "c-29715000"


def finished(name: str, how: str, start: str | None) -> Any:
    """A finished Job."""
    status: Any = {"conditions": [{"type": how, "status": "True"}]}
    if start:
        status["startTime"] = start
    return {"metadata": {"name": name}, "spec": {}, "status": status}


def test_the_oldest_finished_jobs_exceed_the_history_limits() -> None:
    obj = made_at("2026-01-01T00:00:00Z", successfulJobsHistoryLimit=1, failedJobsHistoryLimit=1)
    some = [
        finished("c", "Complete", None),
        finished("b", "Complete", "2026-01-01T00:02:00Z"),
        finished("a", "Complete", "2026-01-01T00:03:00Z"),
        finished("f", "Failed", "2026-01-01T00:01:00Z"),
        {"metadata": {"name": "r"}, "spec": {}},
    ]
    assert [job["metadata"]["name"] for job in history(obj, some)] == ["b", "a"]


COMPLETE = [{"type": "Complete", "status": "True"}]


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        ({"status": {"active": 1}}, False),
        ({"status": {"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]}}, False),
        ({"status": {"conditions": COMPLETE}}, True),
        ({"annotations": {"a": "b"}}, True),
        ({"labels": {"a": "b"}}, True),
    ],
    ids=["counts", "will-end", "end", "annotations", "labels"],
)
def test_a_cron_job_is_reconciled_only_after_changes_of_a_job_that_it_depends_on(change: Any, passes: bool) -> None:
    old: Ref[Any] = ref(version=1, status={})
    new: Ref[Any] = ref(version=2, **{"status": {}, **change})
    assert JobChanged().update(old, new) is passes
