"""Prevention of privilege escalation: a user cannot grant rights that the user does not have.

The check runs in admission after all plug-ins that change objects. No option disables it.
Source: kubernetes pkg/registry/rbac/{role,clusterrole,rolebinding,clusterrolebinding}/policybased/storage.go,
pkg/registry/rbac/{escalation_check,helpers}.go, pkg/registry/rbac/validation/rule.go (1.36).
"""

from typing import ClassVar, Final

from sampan.core import errors
from sampan.core.event_loop.offload import in_thread
from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.policy_rules import Rule, compact_text, compacted, comparisons, quoted_list, uncovered
from sampan.server.admission.chain import Attributes
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.rbac.authorizer import RbacAuthorizer
from sampan.server.authorization.rbac.binding import role_ref, rules_of
from sampan.server.authorization.rbac.index import RBAC_GROUP
from sampan.server.request import RequestInfo, UserInfo

_ROLES: Final = ("roles", "clusterroles")
_BINDINGS: Final = ("rolebindings", "clusterrolebindings")
_FULL_AUTHORITY: Final[tuple[Rule, ...]] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_COMPARED_AT_ONCE: Final = 10_000
"""Number of rule comparisons (about 10 ms) above which they run in a thread."""
_COLLECTED = ("ownerReferences", "finalizers", "managedFields", "resourceVersion")
"""Metadata that the garbage collector may change without a check."""


class RbacEscalation:
    """Checks writes of roles and bindings. `rbac` finds the user's rules; `authorizer` checks the verbs escalate and
    bind.
    """

    name: ClassVar[str] = "RBACEscalation"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset(
        (RBAC_GROUP, resource) for resource in (*_ROLES, *_BINDINGS)
    )

    def __init__(self, rbac: RbacAuthorizer, authorizer: Authorizer) -> None:
        self._rbac = rbac
        self._authorizer = authorizer

    async def admit(self, attributes: Attributes) -> None:
        """Check a write. Raises 403, and 404 for a binding to a missing role."""
        user, obj, old = attributes.user, attributes.obj, attributes.old
        if user is None or obj is None:
            return
        if old is not None and _changes_nothing_else(obj, old):
            return
        if attributes.gvr.resource in _ROLES:
            await self._check_role(attributes, user, obj)
        else:
            await self._check_binding(attributes, user, obj)

    async def _check_role(self, attributes: Attributes, user: UserInfo, role: Object) -> None:
        name = attributes.name if attributes.operation == "UPDATE" else ""  # The path of a POST has no name.
        if await self._may(user, "escalate", attributes.gvr.resource, attributes.namespace, name):
            return
        await self._check_rules(attributes, user, rules_of(role))
        if (_aggregates(role) or _aggregates(attributes.old)) and await self._lacks(attributes, user, _FULL_AUTHORITY):
            text = "must have cluster-admin privileges to use the aggregationRule"
            raise errors.forbidden(attributes.gvr.group_resource, attributes.name, text)

    async def _check_binding(self, attributes: Attributes, user: UserInfo, binding: Object) -> None:
        ref = role_ref(binding, attributes.namespace)
        resource = {"Role": "roles", "ClusterRole": "clusterroles"}.get(ref.kind)
        if resource is None:
            return  # Validation refuses it later.
        if await self._may(user, "bind", resource, attributes.namespace, ref.name):
            return
        if resource == "roles" and not attributes.namespace:
            raise errors.bad_request("Namespace parameter required.")
        rules = self._rbac.rules_of(ref)
        if rules is None:
            # Kubernetes names the binding's resource here, not the role's.
            raise errors.not_found(attributes.gvr.group_resource, ref.name)
        await self._check_rules(attributes, user, rules)

    async def _may(self, user: UserInfo, verb: str, resource: str, namespace: str, name: str) -> bool:
        info = RequestInfo(
            "",
            verb,
            is_resource=True,
            group=RBAC_GROUP,
            version="*",
            namespace=namespace,
            resource=resource,
            name=name,
        )
        return (await self._authorizer.authorize(user, info)).decision is Decision.ALLOW

    async def _check_rules(
        self, attributes: Attributes, user: UserInfo, desired: list[Rule] | tuple[Rule, ...]
    ) -> None:
        lacking = await self._lacks(attributes, user, desired)
        if not lacking:
            return
        shown = "\n".join(sorted({compact_text(rule) for rule in compacted(lacking)}))
        text = (
            f"user {quote(user.name)} (groups={quoted_list(user.groups)}) is attempting to grant RBAC permissions "
            f"not currently held:\n{shown}"
        )
        missing = self._rbac.missing_roles(user, attributes.namespace)
        if missing:
            text += f"; resolution errors: [{', '.join(ref.missing_text(of_writer=True) for ref in missing)}]"
        raise errors.forbidden(attributes.gvr.group_resource, attributes.name, text)

    async def _lacks(
        self, attributes: Attributes, user: UserInfo, desired: list[Rule] | tuple[Rule, ...]
    ) -> list[Rule]:
        owned = self._rbac.rules_for(user, attributes.namespace).rules
        if comparisons(owned, desired) < _COMPARED_AT_ONCE:
            return uncovered(owned, desired)
        return await in_thread(uncovered, owned, desired)


def _aggregates(role: Object | None) -> bool:
    return bool(role and (role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _changes_nothing_else(obj: Object, old: Object) -> bool:
    """Return True if two states differ at most in metadata that the garbage collector changes."""
    return _without_collected(obj) == _without_collected(old)


def _without_collected(obj: Object) -> Object:
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _COLLECTED}
    return {**obj, "metadata": metadata}
