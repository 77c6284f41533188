"""`ParamRights`: an author of a policy or binding must be able to read its parameters.

A policy reports what it reads: without this check, the right to write policies would be a right to read all Secrets.
The check runs after the rules of the kind and before all other validating plug-ins. No option disables it.
Source: kubernetes pkg/registry/admissionregistration/{validating,mutating}admissionpolicy{,binding}/authz.go (1.36).
"""

from typing import ClassVar, Final

from sampan.core import errors, field
from sampan.core.field import Path, quote
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.server.admission.chain import Attributes
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.masters import MASTERS
from sampan.server.request import RequestInfo, UserInfo

_GROUP: Final = "admissionregistration.k8s.io"
_POLICY_OF: Final = {
    "validatingadmissionpolicybindings": "validatingadmissionpolicies",
    "mutatingadmissionpolicybindings": "mutatingadmissionpolicies",
}
_KIND, _REF = Path("spec").child("paramKind"), Path("spec").child("paramRef")


class ParamRights:
    """Requires the verb get on all objects of a `paramKind`, and get or list on the objects that a
    `paramRef` selects.
    """

    name: ClassVar[str] = "PolicyParamRights"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset(
        (_GROUP, resource) for resource in (*_POLICY_OF, *_POLICY_OF.values())
    )

    def __init__(self, cluster: Cluster, authorizer: Authorizer) -> None:
        self._cluster, self._authorizer = cluster, authorizer

    async def validate(self, attributes: Attributes) -> None:
        """Check a write. **Raises** 422."""
        user, obj = attributes.user, attributes.obj
        if user is None or MASTERS in user.groups or obj is None or attributes.subresource:
            return
        policies = _POLICY_OF.get(attributes.gvr.resource)
        if policies is None:
            fault = await self._policy_fault(user, obj, attributes.old)
        else:
            fault = await self._binding_fault(user, obj, policies)
        if fault is not None:
            raise errors.invalid(attributes.gvk.group_kind, attributes.name, [fault])

    async def _policy_fault(self, user: UserInfo, policy: Object, old: Object | None) -> field.FieldError | None:
        kind = _spec(policy).get("paramKind")
        if kind is None or (old is not None and _spec(old).get("paramKind") == kind):
            return None
        if await self._may(user, "get", kind, "*", "*"):
            return None
        shown = f"(kind={kind.get('kind', '')}, apiVersion={kind.get('apiVersion', '')})"
        text = f'user {quote(user.name)} must have "get" permission on all objects of the referenced paramKind {shown}'
        return field.forbidden(_KIND, text)

    async def _binding_fault(self, user: UserInfo, binding: Object, policies: str) -> field.FieldError | None:
        reference = _spec(binding).get("paramRef")
        if reference is None:
            return None
        policy = self._cluster.reader.get(_GROUP, policies, "", _spec(binding).get("policyName") or "")
        name = reference.get("name") or ""
        verb = "get" if name else "list"
        kind = None if policy is None else _spec(policy).get("paramKind")
        if await self._may(user, verb, kind, reference.get("namespace") or "", name):
            return None
        text = f'user {quote(user.name)} does not have "{verb}" permission on the object referenced by paramRef'
        return field.forbidden(_REF, text)

    async def _may(self, user: UserInfo, verb: str, kind: Object | None, namespace: str, name: str) -> bool:
        """Return True if the user may read objects of this kind. For an unknown kind, the user must be able to read
        everything.
        """
        group = version = resource = "*"
        if kind is not None:
            group, _, version = (kind.get("apiVersion") or "").rpartition("/")
            resource = self._resource(group, version, kind.get("kind") or "")
        info = RequestInfo(
            "",
            verb,
            is_resource=True,
            group=group,
            version=version,
            namespace=namespace,
            resource=resource,
            name=name,
        )
        return (await self._authorizer.authorize(user, info)).decision is Decision.ALLOW

    def _resource(self, group: str, version: str, kind: str) -> str:
        for definition in self._cluster.registry.definitions():
            if (definition.group, definition.kind) == (group, kind) and version in definition.versions:
                return definition.resource
        return "*"


def _spec(obj: Object) -> Object:
    return obj.get("spec") or {}
