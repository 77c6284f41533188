"""Expected number of Pods, from the scale of all their controllers.

Built-in workloads are read from caches. Any other controller must have the subresource `scale`.
Source: kube-controller-manager pkg/controller/disruption/disruption.go `getExpectedScale`, finders (1.36).
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from sampan.client import NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS
from sampan.component_base.views import Pod
from sampan.controllers.workloads.ownership import controller_of
from sampan.core.gvk import GroupVersion
from sampan.operator.request import Request
from sampan.resource import Object, OwnerReference, ResourceInfo, meta

_APPS: Final = ("apps", "extensions")
_CORE: Final = ("",)
_WORKLOADS: Final = (
    (REPLICATION_CONTROLLERS, _CORE),
    (REPLICA_SETS, _APPS),
    (STATEFUL_SETS, ("apps",)),
)


class NoScale(Exception):
    """The controller of a Pod is missing or has no scale."""


class ExpectedScale(NamedTuple):
    """Expected number of Pods. `unmanaged` are the names of Pods without a controller, which are not counted."""

    pods: int
    unmanaged: list[str]


class _Controller(NamedTuple):
    uid: str
    scale: int


class ScaleFinder:
    """Finds the controllers of Pods and their scale."""

    def __init__(self, context: ControllerContext) -> None:
        self._client = context.manager.client
        for kind in (DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS):
            context.informer(kind)

    async def expected(self, pods: Iterable[Pod]) -> ExpectedScale:
        """Return the sum of the scales of the Pods' controllers, each counted once.

        Raises `NoScale`, `NoMatch`, `ApiError`, `TransportError`.
        """
        unmanaged: list[str] = []
        found: dict[str, _Controller] = {}
        for pod in pods:
            reference = controller_of(pod)
            if reference is None:
                unmanaged.append(pod.metadata.name)
            elif reference.uid not in found:
                found[reference.uid] = await self._controller(reference, pod)
        return ExpectedScale(sum(dict(found.values()).values()), unmanaged)

    async def _controller(self, reference: OwnerReference, pod: Pod) -> _Controller:
        namespace = pod.metadata.namespace
        for kind, groups in _WORKLOADS:
            owner = await self._find(reference, namespace, kind, groups)
            if owner is not None:
                found = await self._scaled_owner(owner, namespace)
                if found is not None:
                    return found
        found = await self._scalable(reference, namespace)
        if found is None:
            raise NoScale(f'found no controllers for pod "{pod.metadata.name}"')
        return found

    async def _scaled_owner(self, owner: Object, namespace: str) -> _Controller | None:
        """Return the scale of the owner or of the Deployment that controls it; None if that Deployment is gone."""
        above = controller_of(owner) if owner["kind"] == REPLICA_SETS.kind else None
        if above is None or above.kind != DEPLOYMENTS.kind:
            return _scale_of(owner)
        deployment = await self._find(above, namespace, DEPLOYMENTS, _APPS)
        return None if deployment is None else _scale_of(deployment)

    async def _find(
        self, reference: OwnerReference, namespace: str, kind: ResourceInfo, groups: tuple[str, ...]
    ) -> Object | None:
        """Return the object that a reference identifies, if it is of the kind; None otherwise."""
        if reference.kind != kind.kind or GroupVersion.parse(reference.api_version).group not in groups:
            return None
        owner = await self._client.resource(kind, namespace=namespace).find(Request(namespace, reference.name))
        return owner if owner is not None and meta(owner).uid == reference.uid else None

    async def _scalable(self, reference: OwnerReference, namespace: str) -> _Controller | None:
        """Return the scale of any other controller, read from its subresource; None if the controller is gone."""
        client = await self._client.direct.resource_for((reference.api_version, reference.kind), namespace=namespace)
        try:
            scale = await client.scale.get(reference.name)
        except NotFound as error:
            if (error.details or {}).get("name"):
                return None
            # No object is named in the error: the path itself does not exist.
            text = f"{client.info.gvr.group_resource} does not implement the scale subresource"
            raise NoScale(text) from error
        return _Controller(scale.metadata.uid, scale.spec.replicas) if scale.metadata.uid == reference.uid else None


def _scale_of(owner: Object) -> _Controller:
    replicas = owner["spec"].get("replicas")
    return _Controller(meta(owner).uid, 1 if replicas is None else int(replicas))
