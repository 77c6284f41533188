"""Test of the chain CronJob → Job → Pod → TTL → garbage collector on one server."""

from sampan.component_base.resources import CRON_JOBS, JOBS, PODS
from sampan.controllers import cron_job, garbage_collector, job, ttl_after_finished
from sampan.resource import Object, meta
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster

TEMPLATE: Object = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
ALL = (cron_job.set_up, job.set_up, garbage_collector.set_up, ttl_after_finished.set_up)


async def started(c: Working, clock: SetClock, **spec: object) -> Object:
    """Wait for the Pod of a CronJob's first Job."""
    template = {"spec": {"template": TEMPLATE, **spec}}
    await c.create(CRON_JOBS, {"metadata": {"name": "c"}, "spec": {"schedule": "* * * * *", "jobTemplate": template}})
    clock.forward(120)
    await c.patch(CRON_JOBS, "c", {"metadata": {"annotations": {"look": "now"}}})
    [pod] = await c.pods(1)
    return pod


async def test_a_finished_job_is_deleted_with_its_pods() -> None:
    clock = SetClock()
    async with cluster(*ALL, clock=clock) as c:
        pod = await started(c, clock, ttlSecondsAfterFinished=0)
        await c.patch_status(PODS, meta(pod).name, {"phase": "Succeeded"})
        await c.until_all(JOBS, lambda jobs: not jobs)
        await c.until_all(PODS, lambda pods: not pods)
        await c.until(CRON_JOBS, "c", lambda obj: not obj["status"].get("active"))


async def test_a_cron_job_is_deleted_with_its_jobs() -> None:
    clock = SetClock()
    async with cluster(*ALL, clock=clock) as c:
        await started(c, clock)
        await c.delete(CRON_JOBS, "c")
        await c.until_all(JOBS, lambda jobs: not jobs)
        await c.until_all(PODS, lambda pods: not pods)
