"""`SuggestedRoles`: a ClusterRole that would allow a refused request, for the page's text about it.

Only requests with a session get it, in `details.causes` of the Status. Its message is the one of Kubernetes.
"""

from collections.abc import Callable, Sequence
from typing import Final

from sampan.core.errors import StatusError
from sampan.core.policy_rules import Rule, uncovered
from sampan.server.authorization.rbac.binding import RoleRef
from sampan.server.request import RequestInfo

RolesRules = Callable[[RoleRef], Sequence[Rule] | None]
CAUSE: Final = "ClusterRole"
"""Reason of the cause that names the role."""
_ROLES: Final = ("view", "edit", "admin", "cluster-admin")
"""Default roles, the one with the fewest rights first."""


class SuggestedRoles:
    """Finds the role with the fewest rights. `rules_of` returns the rules of a role."""

    def __init__(self, rules_of: RolesRules) -> None:
        self._rules_of = rules_of

    def of(self, info: RequestInfo) -> str:
        """Return the name of the role; empty if no default role would allow the request."""
        desired = _rule(info)
        for name in _ROLES:
            rules = self._rules_of(RoleRef("ClusterRole", "", name))
            if rules is not None and not uncovered(rules, [desired]):
                return name
        return ""

    def add_to(self, error: StatusError, info: RequestInfo) -> StatusError:
        """Return a 403 with the role as a cause."""
        name = self.of(info)
        if not name:
            return error
        scope = "RoleBinding" if info.namespace else "ClusterRoleBinding"
        details = error.details or {}
        cause = {"reason": CAUSE, "message": name, "field": scope}
        causes = [*details.get("causes", ()), cause]
        return StatusError(error.reason, error.code, error.message, details={**details, "causes": causes})


def _rule(info: RequestInfo) -> Rule:
    if not info.is_resource:
        return {"verbs": [info.verb], "nonResourceURLs": [info.path]}
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    return {"verbs": [info.verb], "apiGroups": [info.group], "resources": [resource]}
