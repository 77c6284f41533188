"""Warnings to clients that create NetworkPolicies which no node enforces."""

import pytest

from sampan.core.object import Object
from tests.server.cluster import Api, served

POLICIES = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
NODES = "/api/v1/nodes"
POLICY: Object = {"spec": {"podSelector": {}}}
ON: Object = {"type": "NetworkPoliciesEnforced", "status": "True"}
OFF: Object = {"type": "NetworkPoliciesEnforced", "status": "False", "message": "switched off"}
READY: Object = {"type": "Ready", "status": "True"}


async def warnings(api: Api, *conditions: Object) -> list[str]:
    """Create nodes with these conditions, then a policy, and return its warnings."""
    for number, each in enumerate(conditions):
        await api.post(NODES, {"metadata": {"name": f"n{number}"}, "status": {"conditions": [READY, each]}})
    created = await api.post(POLICIES, {"metadata": {"name": "p"}, **POLICY})
    assert created.code == 201
    return created.warnings


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ((), []),
        ((READY,), []),
        ((ON,), []),
        ((OFF,), ["no node enforces NetworkPolicy: the policy has no effect (node n0: switched off)"]),
        (
            (ON, OFF, OFF),
            ["node n1 and 1 more does not enforce NetworkPolicy: the policy has no effect there (switched off)"],
        ),
        ((OFF, READY), ["no node enforces NetworkPolicy: the policy has no effect (node n0: switched off)"]),
    ],
    ids=["no node", "another program's node", "on", "off", "on some", "off and another program's"],
)
async def test_a_client_is_warned_of_nodes_that_do_not_enforce(
    conditions: tuple[Object, ...], expected: list[str]
) -> None:
    async with served() as api:
        assert await warnings(api, *conditions) == expected


async def test_a_text_in_another_field_is_no_condition() -> None:
    async with served() as api:
        await api.post(NODES, {"metadata": {"name": "n", "annotations": {"a": '"NetworkPoliciesEnforced"'}}})
        assert await warnings(api) == []


async def test_an_update_warns_too() -> None:
    async with served() as api:
        [expected] = await warnings(api, OFF)
        changed = await api.patch(f"{POLICIES}/p", {"spec": {"policyTypes": ["Egress"]}})
        assert changed.warnings == [expected]
