"""The controller of token Secrets (kubernetes.io/service-account-token): adds tokens, and deletes orphaned Secrets.

Source: kube-controller-manager pkg/controller/serviceaccount/tokens_controller.go (1.36).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, Final

from sampan.client import Conflict, DeleteOptions, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import SECRETS, SERVICE_ACCOUNTS
from sampan.core.tokens.keys import read_signing_key
from sampan.core.tokens.legacy import legacy_token
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import Object, meta

NAME: Final = "serviceaccount-token-controller"
_TYPE: Final = "kubernetes.io/service-account-token"
_ACCOUNT: Final = "kubernetes.io/service-account.name"
_UID: Final = "kubernetes.io/service-account.uid"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager, if there is a key that signs tokens."""
    if not context.service_account_key:
        return
    (
        Builder(context.manager)
        .named(NAME)
        .for_(SERVICE_ACCOUNTS)
        .watches(SECRETS, _account_of)
        .complete(ServiceAccountTokens(context))
    )


class ServiceAccountTokens:
    """Completes the token Secrets of a ServiceAccount, and deletes them with their account."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._accounts = client.resource(SERVICE_ACCOUNTS, namespace="")
        self._secrets = client.resource(SECRETS, namespace="")
        self._key = read_signing_key(context.service_account_key.encode())
        self._root_ca = context.root_ca

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one account. Raises `ApiError`, `TransportError`."""
        account = await self._accounts.find(request)
        secrets = self._secrets.in_namespace(request.namespace)
        for secret in await secrets.list():
            if account_name(secret) != request.name:
                continue
            found, name = meta(secret), meta(secret).name
            try:
                if account is None or found.annotations.get(_UID, meta(account).uid) != meta(account).uid:
                    await secrets.delete(name, DeleteOptions(uid=found.uid))
                else:
                    change = self._missing(account, secret)
                    if change:
                        await secrets.patch(name, MergePatch({"metadata": {"uid": found.uid}, **change}))
            except (NotFound, Conflict):
                continue  # It is gone or was replaced; that event queues the account again.
        return None

    def _missing(self, account: core_v1.ServiceAccount, secret: core_v1.Secret) -> Object:
        """Return the missing fields of a Secret as a merge patch; empty if the Secret is complete."""
        owner, data = meta(account), secret.get("data") or {}
        desired = {"namespace": owner.namespace, "ca.crt": self._root_ca}
        change: dict[str, Any] = {
            name: _encoded(text) for name, text in desired.items() if text and data.get(name) != _encoded(text)
        }
        if not data.get("token"):
            described = {"namespace": owner.namespace, "name": owner.name, "uid": owner.uid}
            change["token"] = _encoded(legacy_token(self._key, described, meta(secret).name))
        if _UID in meta(secret).annotations:
            return {"data": change} if change else {}
        return {"data": change, "metadata": {"uid": meta(secret).uid, "annotations": {_UID: owner.uid}}}


def account_name(secret: core_v1.Secret) -> str:
    """Return the name of the account whose token a Secret holds; "" if it is not a token Secret."""
    if secret.get("type") != _TYPE or meta(secret).deletion_timestamp:
        return ""
    return meta(secret).annotations.get(_ACCOUNT, "")


def _account_of(ref: Ref[Any]) -> Iterable[Request]:
    name = account_name(ref.decode()) if _ACCOUNT in ref.annotations else ""
    return (Request(ref.namespace, name),) if name else ()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
