"""The service account controller: keeps a ServiceAccount `default` in each active namespace.

Source: kube-controller-manager pkg/controller/serviceaccount/serviceaccounts_controller.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NAMESPACES, SERVICE_ACCOUNTS
from sampan.controllers.active_namespace import create_in_active, is_active
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result

NAME: Final = "serviceaccount-controller"
DEFAULT: Final = "default"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    (
        Builder(context.manager)
        .named(NAME)
        .for_(NAMESPACES)
        .watches(SERVICE_ACCOUNTS, _namespace_of_default)
        .complete(ServiceAccountController(context))
    )


class ServiceAccountController:
    """Creates the ServiceAccount in namespaces that have none."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._namespaces = client.resource(NAMESPACES)
        self._accounts = client.resource(SERVICE_ACCOUNTS, namespace="")

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one namespace. Raises `ApiError`, `TransportError`."""
        namespace = await self._namespaces.find(request)
        if namespace is None or not is_active(namespace):
            return None
        if await self._accounts.find(Request(request.name, DEFAULT)) is None:
            account: core_v1.ServiceAccount = {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": DEFAULT},
            }
            await create_in_active(self._accounts.in_namespace(request.name), account)
        return None


def _namespace_of_default(ref: Ref[Any]) -> Iterable[Request]:
    return (Request("", ref.namespace),) if ref.name == DEFAULT else ()
