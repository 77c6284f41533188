"""Rights of an explored operator: those of the scenario's roles, or all."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sampan.server.request import UserInfo
from sampan.testing.cluster import ADMIN, Cluster
from sampan.testing.explore.scenario import Scenario

_GROUP: Final = "rbac.authorization.k8s.io"
_USER: Final = UserInfo("explored-operator")


def user_of(scenario: Scenario) -> UserInfo:
    """Return the user of the operator."""
    return ADMIN if scenario.rbac is None else _USER


def name_of(scenario: Scenario) -> str:
    """Return the name of that user; "" for all rights."""
    return "" if scenario.rbac is None else _USER.name


async def grant(cluster: Cluster, roles: Sequence[Mapping[str, Any]]) -> None:
    """Create the roles, and bind each to the operator. A Role is bound in its namespace."""
    for role in roles:
        await cluster.apply(role)
        metadata = {key: each for key, each in role["metadata"].items() if key in ("name", "namespace")}
        binding = {
            "apiVersion": f"{_GROUP}/v1",
            "kind": f"{role['kind']}Binding",
            "metadata": metadata,
            "subjects": [{"apiGroup": _GROUP, "kind": "User", "name": _USER.name}],
            "roleRef": {"apiGroup": _GROUP, "kind": role["kind"], "name": role["metadata"]["name"]},
        }
        await cluster.apply(binding)
