"""Tests of ClusterRole aggregation."""

from typing import Any

from sampan.component_base.resources import CLUSTER_ROLES
from sampan.controllers import cluster_role_aggregation
from sampan.controllers.cluster_role_aggregation import aggregated_rules
from tests.controllers.cluster import cluster


def rule(verb: str) -> Any:
    """A rule."""
    return {"apiGroups": [""], "resources": ["pods"], "verbs": [verb]}


def role(name: str, *verbs: str, **labels: str) -> Any:
    """A role."""
    return {"metadata": {"name": name, "labels": labels}, "rules": [rule(verb) for verb in verbs]}


def aggregated(*labels: dict[str, str]) -> Any:
    """A role that aggregates others by their labels."""
    return {
        "metadata": {"name": "all"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": each} for each in labels]},
        "rules": [],
    }


def test_rules_are_ordered_by_selector_then_name_without_duplicates() -> None:
    others = [role("b", "get", "list", to="x"), role("a", "watch", "get", to="x"), role("c", "delete", to="y")]
    found = aggregated_rules(aggregated({"to": "y"}, {"to": "x"}), [*others, aggregated()])
    assert found == [rule("delete"), rule("watch"), rule("get"), rule("list")]


async def test_aggregated_rules_follow_changes_of_selected_roles() -> None:
    async with cluster(cluster_role_aggregation.set_up) as c:
        await c.create(CLUSTER_ROLES, role("one", "get", to="x"))
        await c.create(CLUSTER_ROLES, aggregated({"to": "x"}))
        await c.until(CLUSTER_ROLES, "all", lambda found: found.get("rules") == [rule("get")])
        await c.create(CLUSTER_ROLES, role("two", "list", to="x"))
        await c.until(CLUSTER_ROLES, "all", lambda found: found["rules"] == [rule("get"), rule("list")])
        await c.delete(CLUSTER_ROLES, "one")
        await c.until(CLUSTER_ROLES, "all", lambda found: found["rules"] == [rule("list")])
        await c.patch(CLUSTER_ROLES, "two", {"metadata": {"labels": None}})
        await c.until(CLUSTER_ROLES, "all", lambda found: not found.get("rules"))
