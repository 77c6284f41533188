"""The role of a run makes the same test pass, and each of its rights is needed."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sampan.testing import Cluster, ClusterOptions, virtual_time
from sampan.testing.operators.failures import OperatorFailed
from sampan.testing.rights.privileges import Privileges, Right, words
from tests.testing.operators_of_tests import CASES, Case

NAMES = list(CASES)


async def privileges_in(case: Case, roles: Sequence[Mapping[str, Any]] = ()) -> Privileges:
    """Run the test of a case. Raises the error of the test."""
    cluster = Cluster(ClusterOptions(roles=roles, **case.cluster))
    async with cluster:
        await cluster.crds(*case.crds)
        cluster.run(case.operator, options=case.options)
        await cluster.settled()
        await case.story(cluster)
        await cluster.settled(pause=0.1)
        return cluster.privileges()


async def privileges_with_rbac(case: Case, roles: Sequence[Mapping[str, Any]]) -> Privileges:
    """Run the test of a case with roles that are objects of the cluster, bound to the user of the operator."""
    async with Cluster(ClusterOptions(**case.cluster)) as cluster:
        await cluster.crds(*case.crds)
        for role in roles:
            await cluster.apply(role)
            await cluster.apply(_binding(role))
        cluster.run(case.operator, user="jane", options=case.options)
        await cluster.settled()
        await case.story(cluster)
        return cluster.privileges()


def without(role: Mapping[str, Any], right: Right) -> dict[str, Any]:
    """Return a role without one right."""
    group, resource, verb = right
    rules = [
        {**rule, "verbs": [each for each in rule["verbs"] if each != verb]}
        if (rule.get("apiGroups", [""]), rule.get("resources") or rule["nonResourceURLs"]) == ([group], [resource])
        else rule
        for rule in role["rules"]
    ]
    return {**role, "rules": [rule for rule in rules if rule["verbs"]]}


@pytest.mark.parametrize("name", NAMES)
@virtual_time
async def test_the_test_passes_with_the_role_of_its_run_as_the_only_right(name: str) -> None:
    role = (await privileges_in(CASES[name])).role("found")
    found = await privileges_with_rbac(CASES[name], [role])
    assert not found.refused, role


@pytest.mark.parametrize("name", NAMES)
@virtual_time
async def test_each_used_right_of_the_role_is_needed(name: str) -> None:
    privileges = await privileges_in(CASES[name])
    role, superfluous = privileges.role("found"), []
    for right in sorted(privileges.used):
        try:
            await privileges_in(CASES[name], [without(role, right)])
            superfluous.append(words(right))
        except (OperatorFailed, AssertionError):
            continue
    assert not superfluous


def _binding(role: Mapping[str, Any]) -> dict[str, Any]:
    group, name = "rbac.authorization.k8s.io", role["metadata"]["name"]
    return {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "User", "apiGroup": group, "name": "jane"}],
    }
