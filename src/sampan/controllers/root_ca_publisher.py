"""The publisher of the cluster's CA: keeps a ConfigMap `kube-root-ca.crt` in each active namespace.

Source: kube-controller-manager pkg/controller/certificates/rootcacertpublisher/publisher.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sampan.client import MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONFIG_MAPS, NAMESPACES
from sampan.controllers.active_namespace import create_in_active, is_active
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "root-ca-certificate-publisher-controller"
ROOT_CA: Final = "kube-root-ca.crt"
DESCRIPTION_ANNOTATION: Final = "kubernetes.io/description"
DESCRIPTION: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager, if there is a CA to publish."""
    if not context.root_ca:
        return
    (
        Builder(context.manager)
        .named(NAME)
        .for_(NAMESPACES)
        .watches(CONFIG_MAPS, _namespace_of_root_ca)
        .complete(RootCaPublisher(context))
    )


class RootCaPublisher:
    """Creates the ConfigMap and reverts changes to it."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._namespaces = client.resource(NAMESPACES)
        self._config_maps = client.resource(CONFIG_MAPS, namespace="")
        self._data = {"ca.crt": context.root_ca}

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one namespace. Raises `ApiError`, `TransportError`."""
        namespace = await self._namespaces.find(request)
        if namespace is None or not is_active(namespace):
            return None
        published = await self._config_maps.find(Request(request.name, ROOT_CA))
        client = self._config_maps.in_namespace(request.name)
        if published is None:
            config_map: core_v1.ConfigMap = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": ROOT_CA, "annotations": {DESCRIPTION_ANNOTATION: DESCRIPTION}},
                "data": self._data,
            }
            await create_in_active(client, config_map)
        elif self._differs(published):
            try:
                await client.patch(ROOT_CA, self._correction(published))
            except NotFound:
                return None  # The event of the deletion queues the namespace again.
        return None

    def _differs(self, published: core_v1.ConfigMap) -> bool:
        return published.get("data") != self._data or not meta(published).annotations.get(DESCRIPTION_ANNOTATION)

    def _correction(self, published: core_v1.ConfigMap) -> MergePatch:
        foreign = {key: None for key in published.get("data") or () if key not in self._data}
        return MergePatch(
            {
                "metadata": {"annotations": {DESCRIPTION_ANNOTATION: DESCRIPTION}},
                "data": {**foreign, **self._data},
            }
        )


def _namespace_of_root_ca(ref: Ref[Any]) -> Iterable[Request]:
    return (Request("", ref.namespace),) if ref.name == ROOT_CA else ()
