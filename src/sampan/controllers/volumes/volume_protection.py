"""Protection of volumes and claims: finalizers block their deletion while they are in use.

Source: kube-controller-manager pkg/controller/volume/{pvcprotection,pvprotection}/ (1.36).
"""

from collections.abc import Iterable
from typing import Any, Final, TypeVar

import msgspec

from sampan.client import Conflict, MergePatch, NotFound, ResourceClient
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from sampan.component_base.views import POD_VIEW, Pod
from sampan.informer.ref import Ref
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import meta
from sampan.resource.view import view_decoder
from sampan.wire import json

T = TypeVar("T")

CLAIM_FINALIZER: Final = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER: Final = "kubernetes.io/pv-protection"
CLAIM_INDEX: Final = "claim"
"""Index of Pods by the claims they use (`namespace/name`)."""


def set_up_claims(context: ControllerContext) -> None:
    """Register the controller that protects claims used by Pods."""
    informer = context.informer(POD_VIEW)
    if CLAIM_INDEX not in informer.indexer.index_names:
        informer.indexer.add_indexer(CLAIM_INDEX, claims_of)
    (
        Builder(context.manager)
        .named("persistentvolumeclaim-protection-controller")
        .for_(PERSISTENT_VOLUME_CLAIMS)
        .watches(POD_VIEW, _requests_of_claims)
        .complete(ClaimProtection(context))
    )


def set_up_volumes(context: ControllerContext) -> None:
    """Register the controller that protects volumes bound to claims."""
    (
        Builder(context.manager)
        .named("persistentvolume-protection-controller")
        .for_(PERSISTENT_VOLUMES)
        .complete(VolumeProtection(context))
    )


class ClaimProtection:
    """Adds the finalizer to claims, and removes it from a claim that is being deleted and not used by any Pod."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._pods = client.resource(POD_VIEW, namespace="")
        self._live_pods = client.direct.resource(PODS, namespace="")

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one claim. Raises `ApiError`, `TransportError`."""
        claim = await self._claims.find(request)
        if claim is None:
            return None
        deleting = meta(claim).deletion_timestamp is not None
        if deleting and CLAIM_FINALIZER in meta(claim).finalizers and await self._is_used(request):
            return None
        await set_finalizer(self._claims.in_namespace(request.namespace), claim, CLAIM_FINALIZER)
        return None

    async def _is_used(self, claim: Request) -> bool:
        """Return True if Pods use the claim.

        A stale cache could lead to loss of data. So if the cache has no user of the claim, the server is queried.
        """
        if any(uses(pod) for pod in await self._pods.by_index(CLAIM_INDEX, claim.key)):
            return True
        async for pod in self._live_pods.in_namespace(claim.namespace).items():
            if claim.name in _names(json.encode(pod)) and uses(POD_VIEW.decode(json.encode(pod))):
                return True
        return False


class VolumeProtection:
    """Adds the finalizer to volumes, and removes it from a volume that is being deleted and not bound."""

    def __init__(self, context: ControllerContext) -> None:
        self._volumes = context.manager.client.resource(PERSISTENT_VOLUMES)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one volume. Raises `ApiError`, `TransportError`."""
        volume = await self._volumes.find(request)
        if volume is None:
            return None
        bound = (volume.get("status") or {}).get("phase") == "Bound"
        if meta(volume).deletion_timestamp is None or not bound:
            await set_finalizer(self._volumes, volume, VOLUME_FINALIZER)
        return None


async def set_finalizer(client: ResourceClient[T], obj: T, finalizer: str) -> None:
    """Add a finalizer to an object, or remove it if the object is being deleted. Do nothing if that is done already."""
    deleting = meta(obj).deletion_timestamp is not None
    before = meta(obj).finalizers
    if deleting is (finalizer not in before):
        return
    after = [each for each in before if each != finalizer] if deleting else [*before, finalizer]
    metadata = {"resourceVersion": meta(obj).resource_version, "finalizers": after or None}
    try:
        await client.patch(meta(obj).name, MergePatch({"metadata": metadata}))
    except (Conflict, NotFound):
        return  # The event of that change queues the object again.


def uses(pod: Pod) -> bool:
    """Return True if a Pod counts as a user of its claims: it is bound to a node, so a kubelet may start it."""
    return bool(pod.spec.node_name)


class _Claim(msgspec.Struct, rename="camel"):
    claim_name: str = ""


class _Volume(msgspec.Struct, rename="camel"):
    name: str = ""
    persistent_volume_claim: _Claim | None = None
    ephemeral: dict[str, Any] | None = None


class _Spec(msgspec.Struct):
    volumes: list[_Volume] = msgspec.field(default_factory=list)


class _Metadata(msgspec.Struct):
    name: str = ""


class _Status(msgspec.Struct):
    phase: str = ""


class _PodVolumes(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec
    status: _Status = msgspec.field(default_factory=_Status)


_pod_volumes = view_decoder(_PodVolumes)


def _names(raw: bytes) -> list[str]:
    """Return the claims a Pod uses: those it references, and its ephemeral ones unless it has ended."""
    if b'"persistentVolumeClaim"' not in raw and b'"ephemeral"' not in raw:
        return []
    pod = _pod_volumes(raw)
    ended = pod.status.phase in ("Succeeded", "Failed")
    return [
        volume.persistent_volume_claim.claim_name
        if volume.persistent_volume_claim is not None
        else f"{pod.metadata.name}-{volume.name}"
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None or (volume.ephemeral is not None and not ended)
    ]


def claims_of(ref: Ref[Any]) -> Iterable[str]:
    """Index function of `CLAIM_INDEX`."""
    return [f"{ref.namespace}/{name}" for name in _names(ref.raw)]


def _requests_of_claims(ref: Ref[Any]) -> Iterable[Request]:
    return [Request(ref.namespace, name) for name in _names(ref.raw)]
