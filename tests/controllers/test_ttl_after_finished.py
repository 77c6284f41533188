"""Tests of the deletion of finished Jobs after their TTL."""

import datetime as dt
from typing import Any

import pytest

from sampan.component_base.resources import JOBS
from sampan.controllers import ttl_after_finished as loop
from sampan.controllers.ttl_after_finished import time_left
from sampan.core.time import format_time
from sampan.resource import meta
from tests.controllers.cluster import Working, cluster

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def job(name: str, ttl_s: int | None) -> Any:
    """A Job."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    return {"metadata": {"name": name}, "spec": {"template": template, "ttlSecondsAfterFinished": ttl_s}}


async def finish(c: Working, name: str, *, ago_s: int = 0) -> None:
    """Complete a Job at a time."""
    then = format_time(dt.datetime.now(dt.UTC) - dt.timedelta(seconds=ago_s))
    conditions = [
        {"type": type, "status": "True", "lastTransitionTime": then} for type in ("SuccessCriteriaMet", "Complete")
    ]
    await c.patch_status(JOBS, name, {"startTime": then, "completionTime": then, "conditions": conditions})


async def ended(c: Working, name: str) -> Any:
    """Wait until the deletion of the Job has begun. In the foreground it waits for the garbage collector."""
    return await c.until(JOBS, name, lambda obj: "deletionTimestamp" in obj["metadata"])


async def test_a_finished_job_is_deleted_with_its_pods_after_its_ttl() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job("a", 100))
        await finish(c, "a", ago_s=101)
        assert meta(await ended(c, "a")).finalizers == ["foregroundDeletion"]


async def test_a_job_is_deleted_when_its_ttl_expires() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job("a", 1))
        await finish(c, "a")
        await ended(c, "a")


async def test_jobs_without_expired_ttl_are_kept() -> None:
    async with cluster(loop.set_up) as c:
        for name, ttl_s in {"running": 0, "for-ever": None, "later": 3600, "over": 0}.items():
            await c.create(JOBS, job(name, ttl_s))
        await finish(c, "for-ever", ago_s=1000)
        await finish(c, "later", ago_s=1000)
        await finish(c, "over")
        await ended(c, "over")
        for name in ("running", "for-ever", "later"):
            assert meta(await c.get(JOBS, name)).deletion_timestamp is None


async def test_a_shorter_ttl_applies_immediately() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job("a", 3600))
        await finish(c, "a", ago_s=60)
        await c.patch(JOBS, "a", {"spec": {"ttlSecondsAfterFinished": 30}})
        await ended(c, "a")


@pytest.mark.parametrize(
    ("ttl_s", "type", "left_s"),
    [(10, "Complete", 4), (3, "Failed", -3), (None, "Complete", None), (10, "Suspended", None)],
)
def test_time_left(ttl_s: int | None, type: str, left_s: int | None) -> None:
    then = format_time(NOW - dt.timedelta(seconds=6))
    conditions = [{"type": type, "status": "True", "lastTransitionTime": then}]
    obj: Any = {**job("a", ttl_s), "status": {"conditions": conditions}}
    assert time_left(obj, NOW) == (None if left_s is None else dt.timedelta(seconds=left_s))


def test_a_finished_job_without_finish_time_is_an_error() -> None:
    obj: Any = {**job("a", 1), "status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    with pytest.raises(ValueError, match="unable to find the time when the Job"):
        time_left(obj, NOW)


async def test_a_job_without_a_ttl_is_deleted_once_it_gets_one() -> None:
    async with cluster(loop.set_up) as c:
        await c.create(JOBS, job("a", None))
        await finish(c, "a", ago_s=10)
        await c.patch(JOBS, "a", {"spec": {"ttlSecondsAfterFinished": 1}})
        await ended(c, "a")
