"""Tests of storms. Each test has its own API server, in virtual time."""

from typing import Any

import pytest
from sampan.resource import Object, ObjectMeta
from sampan.testing import Cluster, field

from storms.storm.reconcile import set_up
from storms.storm.v1 import Hypothesis, Storm, StormSpec

LABELS = {"app": "web"}
ALLOWED = {"storms.example.com/allowed": "true"}
pytestmark = pytest.mark.cluster(loops="chain", admission="OwnerReferencesPermissionEnforcement")


def storm(name: str = "example", **fields: Any) -> Storm:
    spec = {"selector": LABELS, "actions": ["kill"], "hypothesis": Hypothesis(selector=LABELS, min_ready=2), **fields}
    return Storm(metadata=ObjectMeta(name=name), spec=StormSpec(**spec))


def web(replicas: int = 4) -> Object:
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": "web"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


async def begin(cluster: Cluster) -> set[str]:
    """Run the operator next to a Deployment in an allowed namespace. Return the uids of its Pods."""
    await cluster.crds(Storm)
    await cluster.patch("namespace/default", {"metadata": {"labels": ALLOWED}})
    cluster.run(set_up)
    await cluster.apply(web())
    await cluster.eventually("deploy/web", field(".status.readyReplicas") == 4)
    return await uids(cluster)


async def uids(cluster: Cluster) -> set[str]:
    return {each["metadata"]["uid"] for each in await cluster.list("pods", selector="app=web")}


async def phase(cluster: Cluster, expected: str, name: str = "example") -> Object:
    await cluster.eventually(f"storms/{name}", field(".status.phase") == expected)
    found: Object = (await cluster.get(f"storms/{name}"))["status"]
    return found


async def test_a_storm_kills_as_many_pods_as_it_may(cluster: Cluster) -> None:
    before = await begin(cluster)
    await cluster.apply(storm(max=2))
    report = await phase(cluster, "Passed")
    assert [each["state"] for each in report["victims"]] == ["Hit", "Hit"]
    assert len(before - await uids(cluster)) == 2


async def test_a_dry_run_lists_the_victims_and_hits_none(cluster: Cluster) -> None:
    before = await begin(cluster)
    await cluster.apply(storm(max=3, dry_run=True))
    report = await phase(cluster, "Planned")
    assert len(report["victims"]) == 3
    assert await uids(cluster) == before


async def test_the_same_seed_has_the_same_victims(cluster: Cluster) -> None:
    await begin(cluster)
    lists = []
    for name, seed in (("one", 7), ("two", 7), ("three", 8)):
        await cluster.apply(storm(name, max=2, seed=seed, dry_run=True))
        lists.append([each["pod"] for each in (await phase(cluster, "Planned", name))["victims"]])
    assert lists[0] == lists[1]
    assert lists[0] != lists[2]


async def test_a_disruption_budget_spares_a_pod(cluster: Cluster) -> None:
    before = await begin(cluster)
    budget = {"minAvailable": 4, "selector": {"matchLabels": LABELS}}
    await cluster.apply(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": budget}
    )
    await cluster.apply(storm(max=2))
    report = await phase(cluster, "Passed")
    assert [each["state"] for each in report["victims"]] == ["Spared", "Spared"]
    assert await uids(cluster) == before


async def test_a_refused_eviction_can_abort_the_storm(cluster: Cluster) -> None:
    await begin(cluster)
    budget = {"minAvailable": 4, "selector": {"matchLabels": LABELS}}
    await cluster.apply(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": budget}
    )
    await cluster.apply(storm(abort_on=["EvictionRefused"]))
    assert "PodDisruptionBudget" in (await phase(cluster, "Aborted"))["message"]


async def test_a_namespace_without_the_label_is_refused(cluster: Cluster) -> None:
    before = await begin(cluster)
    await cluster.patch("namespace/default", {"metadata": {"labels": {"storms.example.com/allowed": None}}})
    await cluster.apply(storm())
    assert "no label" in (await phase(cluster, "Refused"))["message"]
    assert await uids(cluster) == before


async def test_kube_system_is_refused_even_with_the_label(cluster: Cluster) -> None:
    await begin(cluster)
    await cluster.patch("namespace/kube-system", {"metadata": {"labels": ALLOWED}})
    inside = storm()
    inside.metadata.namespace = "kube-system"
    await cluster.apply(inside)
    await cluster.eventually("storms/example", field(".status.phase") == "Refused", namespace="kube-system")


async def test_a_storm_does_not_begin_if_its_hypothesis_is_false(cluster: Cluster) -> None:
    before = await begin(cluster)
    await cluster.apply(storm(hypothesis=Hypothesis(selector=LABELS, min_ready=5)))
    assert "before the storm" in (await phase(cluster, "Refused"))["message"]
    assert await uids(cluster) == before


async def test_a_broken_hypothesis_aborts_the_storm(cluster: Cluster) -> None:
    await begin(cluster)
    cluster.pods.never_ready("web-*")
    await cluster.apply(storm(max=3, hypothesis=Hypothesis(selector=LABELS, min_ready=4)))
    report = await phase(cluster, "Aborted")
    assert [each["state"] for each in report["victims"]].count("Hit") == 1


async def test_a_storm_fails_if_its_application_does_not_recover(cluster: Cluster) -> None:
    await begin(cluster)
    cluster.pods.never_ready("web-*")
    await cluster.apply(storm(hypothesis=Hypothesis(selector=LABELS, min_ready=4), abort_on=[]))
    assert "after the storm" in (await phase(cluster, "Failed"))["message"]


async def test_a_storm_fails_if_a_victim_was_not_hit_in_time(cluster: Cluster) -> None:
    before = await begin(cluster)
    [running] = cluster._running
    await cluster.apply(storm(max=2))
    await cluster.eventually("storms/example", field(".status.victims[0].state") == "Hit")
    await running.crash()
    await cluster.advance(seconds=120)
    running.restart()
    report = await phase(cluster, "Failed")
    assert report["message"] == f"not hit in time: {report['victims'][1]['pod']}"
    assert len(before - await uids(cluster)) == 1


async def test_two_storms_rage_one_after_the_other(cluster: Cluster) -> None:
    await begin(cluster)
    await cluster.apply(storm("one"))
    await phase(cluster, "Running", "one")
    await cluster.apply(storm("two"))
    await phase(cluster, "Waiting", "two")
    await phase(cluster, "Passed", "one")
    await phase(cluster, "Passed", "two")


async def test_an_isolation_ends_when_the_operator_never_comes_back(cluster: Cluster) -> None:
    await begin(cluster)
    [running] = cluster._running
    cluster.pods.complete("storm-*", after=3600)  # The fuse lasts until its deadline.
    await cluster.apply(storm(actions=["isolate"], ttl_seconds=20))
    await cluster.eventually(lambda: cluster.list("networkpolicies"), lambda found: len(found) == 1)
    await running.crash()
    await cluster.advance(seconds=15)
    assert len(await cluster.list("networkpolicies")) == 1
    await cluster.advance(seconds=45)
    assert await cluster.list("networkpolicies") == []


async def test_a_crash_after_each_step_never_makes_more_victims(cluster: Cluster) -> None:
    before = await begin(cluster)
    [running] = cluster._running
    await cluster.apply(storm(max=2))
    for _ in range(40):
        await cluster.advance(seconds=1.9)
        await running.crash()
        running.restart()
    await phase(cluster, "Passed")
    assert len(before - await uids(cluster)) == 2


async def test_an_ended_storm_leaves_nothing_behind(cluster: Cluster) -> None:
    await begin(cluster)
    await cluster.apply(storm(actions=["isolate"], ttl_seconds=600))
    await phase(cluster, "Passed")
    await cluster.advance(seconds=5)
    assert [await cluster.list(kind) for kind in ("networkpolicies", "jobs", "leases")] == [[], [], []]
