"""Tests of the usage in the status of ResourceQuotas."""

from typing import Any

from sampan.component_base.resources import CONFIG_MAPS, DEPLOYMENTS, PODS, RESOURCE_QUOTAS, SERVICES
from sampan.controllers import resource_quota
from sampan.controllers.resource_quota.controller import status_after
from sampan.core.numbers.quantity import parse
from tests.controllers.cluster import Working, cluster


def quota(hard: dict[str, str], **spec: object) -> Any:
    """A quota."""
    return {"metadata": {"name": "q"}, "spec": {"hard": hard, **spec}}


async def pod(c: Working, name: str, **requests: str) -> Any:
    """A Pod."""
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    return await c.create(PODS, {"metadata": {"name": name}, "spec": spec})


async def until_used(c: Working, **used: str) -> Any:
    """Wait for a usage in the quota's status, and return it; `__` stands for a dot, `_` for a slash."""
    desired = {name.replace("__", ".").replace("_", "/"): amount for name, amount in used.items()}
    found = await c.until(RESOURCE_QUOTAS, "q", lambda q: (q.get("status") or {}).get("used") == desired)
    status: Any = found["status"]
    return status


async def test_the_usage_follows_new_ended_and_deleted_pods() -> None:
    async with cluster(resource_quota.set_up) as c:
        await pod(c, "x", cpu="500m", memory="1Gi")
        hard = {"pods": "10", "requests.cpu": "4", "memory": "8Gi"}
        await c.create(RESOURCE_QUOTAS, quota(hard))
        status = await until_used(c, pods="1", requests__cpu="500m", memory="1Gi")
        assert status["hard"] == hard
        await pod(c, "y", cpu="1", memory="0")
        await until_used(c, pods="2", requests__cpu="1500m", memory="1Gi")
        await c.patch_status(PODS, "y", {"phase": "Succeeded"})
        await until_used(c, pods="1", requests__cpu="500m", memory="1Gi")
        await c.delete(PODS, "x")
        await until_used(c, pods="0", requests__cpu="0", memory="0")


async def test_objects_of_any_resource_are_counted() -> None:
    async with cluster(resource_quota.set_up) as c:
        await c.create(RESOURCE_QUOTAS, quota({"configmaps": "5", "count/deployments.apps": "5", "count/no.such": "1"}))
        await until_used(c, configmaps="0", count_deployments__apps="0")
        await c.create(CONFIG_MAPS, {"metadata": {"name": "x"}})
        labels = {"matchLabels": {"a": "b"}}
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        await c.create(DEPLOYMENTS, {"metadata": {"name": "x"}, "spec": {"selector": labels, "template": template}})
        await until_used(c, configmaps="1", count_deployments__apps="1")
        await c.delete(CONFIG_MAPS, "x")
        await until_used(c, configmaps="0", count_deployments__apps="1")


async def test_the_usage_follows_services_and_changed_limits() -> None:
    async with cluster(resource_quota.set_up) as c:
        await c.create(RESOURCE_QUOTAS, quota({"services": "5"}))
        await c.create(SERVICES, {"metadata": {"name": "x"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
        await until_used(c, services="2")  # and `kubernetes`
        await c.patch(RESOURCE_QUOTAS, "q", {"spec": {"hard": {"services": None, "services.nodeports": "2"}}})
        status = await until_used(c, services__nodeports="1")
        assert status["hard"] == {"services.nodeports": "2"}


async def test_only_objects_in_scope_are_counted() -> None:
    async with cluster(resource_quota.set_up) as c:
        await pod(c, "effort")
        await pod(c, "asks", cpu="1")
        await c.create(RESOURCE_QUOTAS, quota({"pods": "5"}, scopes=["BestEffort"]))
        await until_used(c, pods="1")


def test_an_equal_status_in_another_form_is_not_written() -> None:
    reported = {"hard": {"cpu": "2"}, "used": {"cpu": "1000m"}}
    limited: Any = {"spec": {"hard": {"cpu": "2"}}, "status": reported}
    assert status_after(limited, {"cpu": parse("1")}) is None


def test_usage_that_cannot_be_counted_stays() -> None:
    reported = {"hard": {"count/x": "2"}, "used": {"count/x": "1", "old": "1"}}
    limited: Any = {"spec": {"hard": {"count/x": "3"}}, "status": reported}
    status = status_after(limited, {})
    assert status == {"hard": {"count/x": "3"}, "used": {"count/x": "1"}}


async def test_lower_usage_is_reported_only_after_a_moment_without_admission() -> None:
    """Usage that admission has added for objects that do not exist yet stays for a while."""
    async with cluster(resource_quota.set_up) as c:
        await c.create(RESOURCE_QUOTAS, quota({"pods": "5"}))
        await until_used(c, pods="0")
        await c.patch_status(RESOURCE_QUOTAS, "q", {"used": {"pods": "3"}})
        await pod(c, "x")
        assert (await c.get(RESOURCE_QUOTAS, "q"))["status"]["used"] == {"pods": "4"}
        await until_used(c, pods="1")
