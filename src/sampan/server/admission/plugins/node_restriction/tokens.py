"""Permissions of a kubelet to request tokens: only those that the Pods on its Node mount.

Source: kubernetes plugin/pkg/admission/noderestriction/admission.go `admitServiceAccount` (1.36).
"""

from collections.abc import Iterator

from sampan.core.errors import not_found
from sampan.core.field import quote
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.refusal import refusal
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.request import RequestInfo


class TokenCheck:
    """Checks TokenRequests."""

    def __init__(self, reader: CacheReader, authorizer: Authorizer) -> None:
        self._reader = reader
        self._authorizer = authorizer

    async def check(self, node: str, attributes: Attributes) -> None:
        """Check a TokenRequest. **Raises** 403, and 404 for a missing Pod."""
        if attributes.operation != "CREATE" or attributes.subresource != "token" or attributes.obj is None:
            return
        spec = attributes.obj.get("spec") or {}
        bound = spec.get("boundObjectRef") or {}
        if (bound.get("apiVersion"), bound.get("kind")) != ("v1", "Pod") or not bound.get("name"):
            raise refusal(attributes, "node requested token not bound to a pod")
        uid = bound.get("uid")
        if not uid:
            raise refusal(attributes, "node requested token with a pod binding without a uid")
        pod = self._reader.get("", "pods", attributes.namespace, bound["name"])
        if pod is None:
            raise not_found(GroupResource("", "pod"), bound["name"])
        if uid != pod["metadata"]["uid"]:
            text = f"the UID in the bound object reference ({uid}) does not match the UID in record. The object might "
            raise refusal(attributes, f"{text}have been deleted and then recreated")
        if (pod.get("spec") or {}).get("nodeName") != node:
            raise refusal(attributes, "node requested token bound to a pod scheduled on a different node")
        await self._check_audience(attributes, pod, spec.get("audiences") or [])

    async def _check_audience(self, attributes: Attributes, pod: Object, audiences: list[str]) -> None:
        if len(audiences) > 1:
            raise refusal(attributes, "node may only request 0 or 1 audiences")
        audience = audiences[0] if audiences else ""
        if audience in self._audiences_of(pod, attributes.namespace):
            return
        user = attributes.user
        assert user is not None
        verb = "request-serviceaccounts-token-audience"
        info = RequestInfo(
            "",
            verb,
            is_resource=True,
            version="v1",
            namespace=attributes.namespace,
            resource=audience,
            name=attributes.name,
        )
        verdict = await self._authorizer.authorize(user, info)
        if verdict.decision is not Decision.ALLOW:
            text = f"audience {quote(audience)} not found in pod spec volume"
            raise refusal(attributes, f"{text}, {user.name} is not authorized to request tokens for this audience")

    def _audiences_of(self, pod: Object, namespace: str) -> Iterator[str]:
        """Yield the audiences of tokens in a Pod's volumes, including those that CSI drivers request."""
        for volume in (pod.get("spec") or {}).get("volumes") or ():
            for source in (volume.get("projected") or {}).get("sources") or ():
                token = source.get("serviceAccountToken")
                if token is not None:
                    yield token.get("audience", "")
            driver = self._driver_of(volume, pod["metadata"]["name"], namespace)
            found = self._reader.get("storage.k8s.io", "csidrivers", "", driver) if driver else None
            for request in ((found or {}).get("spec") or {}).get("tokenRequests") or ():
                yield request.get("audience", "")

    def _driver_of(self, volume: Object, pod_name: str, namespace: str) -> str:
        claim_name = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
        if (volume.get("ephemeral") or {}).get("volumeClaimTemplate") is not None:
            claim_name = f"{pod_name}-{volume['name']}"
        if not claim_name:
            return (volume.get("csi") or {}).get("driver") or ""
        claim = self._reader.get("", "persistentvolumeclaims", namespace, claim_name) or {}
        name = (claim.get("spec") or {}).get("volumeName", "")
        found = self._reader.get("", "persistentvolumes", "", name) if name else None
        return (((found or {}).get("spec") or {}).get("csi") or {}).get("driver") or ""
