"""OwnerReferencesPermissionEnforcement: rights to set owner references, which cause or block deletions.

Source: kubernetes plugin/pkg/admission/gc/gc_admission.go (1.36).
"""

from typing import Any, ClassVar

from sampan.core.go_text import NIL
from sampan.core.object import Object
from sampan.registry.registry import ResourceRegistry
from sampan.server.admission.chain import Attributes
from sampan.server.admission.refusal import refusal
from sampan.server.authorization.authorizer import Authorizer, Decision, Verdict
from sampan.server.request import RequestInfo

References = list[dict[str, Any]]


class OwnerReferencesPermissionEnforcement:
    """Requires the right to delete the object for a change of its owners.

    For `blockOwnerDeletion`, it requires the right to update the finalizers of the owner.
    """

    name: ClassVar[str] = "OwnerReferencesPermissionEnforcement"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None

    def __init__(self, registry: ResourceRegistry, authorizer: Authorizer) -> None:
        self._registry = registry
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes) -> None:
        """Authorize changed owner references. **Raises** 403."""
        gvr = attributes.gvr
        if (gvr.group, gvr.resource, attributes.subresource) == ("", "pods", "status"):
            return
        owners, before = _owners(attributes.obj), _owners(attributes.old)
        if owners == before:
            return
        if attributes.operation != "CREATE":
            await self._check_delete(attributes)
        blocking = _newly_blocking(owners, before)
        if not blocking:
            return
        anything = RequestInfo("", "update", True, "*", "*", "", "*", "finalizers", "*")
        if (await self._authorize(attributes, anything)).decision is Decision.ALLOW:
            return
        for reference in blocking:
            await self._check_blocking(attributes, reference)

    async def _authorize(self, attributes: Attributes, info: RequestInfo) -> Verdict:
        assert attributes.user is not None
        return await self._authorizer.authorize(attributes.user, info)

    async def _check_delete(self, attributes: Attributes) -> None:
        gvr = attributes.gvr
        info = RequestInfo(
            "",
            "delete",
            is_resource=True,
            group=gvr.group,
            version=gvr.version,
            namespace=attributes.namespace,
            resource=gvr.resource,
            subresource=attributes.subresource,
            name=attributes.name,
        )
        verdict = await self._authorize(attributes, info)
        if verdict.decision is not Decision.ALLOW:
            text = f"cannot set an ownerRef on a resource you can't delete: {verdict.reason}, {NIL}"
            raise refusal(attributes, text)

    async def _check_blocking(self, attributes: Attributes, reference: dict[str, Any]) -> None:
        api_version, kind = reference.get("apiVersion", ""), reference.get("kind", "")
        for info in self._finalizers_of(attributes, reference):
            verdict = await self._authorize(attributes, info)
            if verdict.decision is not Decision.ALLOW:
                raise refusal(
                    attributes,
                    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers "
                    f"on: {verdict.reason}, {NIL}",
                )
            return
        raise refusal(
            attributes,
            f"cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {api_version} "
            f'Kind {kind}: no matches for kind "{kind}" in version "{api_version}"',
        )

    def _finalizers_of(self, attributes: Attributes, reference: dict[str, Any]) -> list[RequestInfo]:
        """Return the requests that update the finalizers of an owner; empty if its kind is not served."""
        group, _, version = reference.get("apiVersion", "").rpartition("/")
        return [
            RequestInfo(
                "",
                "update",
                is_resource=True,
                group=group,
                version=version,
                namespace=attributes.namespace if definition.namespaced else "",
                resource=definition.resource,
                subresource="finalizers",
                name=reference.get("name", ""),
            )
            for definition in self._registry.definitions()
            if definition.group == group and definition.kind == reference.get("kind") and version in definition.versions
        ]


def _owners(obj: Object | None) -> References:
    return [] if obj is None else (obj.get("metadata") or {}).get("ownerReferences") or []


def _newly_blocking(owners: References, before: References) -> References:
    blocked = {each.get("uid") for each in before if each.get("blockOwnerDeletion")}
    return [each for each in owners if each.get("blockOwnerDeletion") and each.get("uid") not in blocked]
