"""Tests of token Secrets: they get their token, and are deleted with their account."""

import base64
from dataclasses import replace
from typing import Any

import jwt

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import SECRETS, SERVICE_ACCOUNTS
from sampan.controllers.tokens import service_account_tokens
from sampan.core.tokens.keys import make_signing_key
from sampan.resource import meta
from tests.controllers.cluster import cluster

KEY = make_signing_key()
PEM = KEY.pem().decode()
SECRET: dict[str, Any] = {
    "type": "kubernetes.io/service-account-token",
    "metadata": {"name": "t", "annotations": {"kubernetes.io/service-account.name": "robot"}},
}
ROBOT = {"metadata": {"name": "robot"}}


def set_up(context: ControllerContext) -> None:
    """Run the controller with a key."""
    service_account_tokens.set_up(replace(context, service_account_key=PEM))


def complete(secret: Any) -> bool:
    """Return True if a Secret has a token."""
    return bool((secret.get("data") or {}).get("token"))


async def test_a_secret_gets_the_token_of_its_account() -> None:
    async with cluster(set_up, root_ca="CA") as c:
        account = await c.create(SERVICE_ACCOUNTS, ROBOT)
        await c.create(SECRETS, SECRET)
        secret = await c.until(SECRETS, "t", complete)
        data = {name: base64.b64decode(text).decode() for name, text in secret["data"].items()}
        assert (data["ca.crt"], data["namespace"]) == ("CA", "default")
        claims = jwt.decode(data["token"], KEY.verifying.key, ["ES256"])
        assert claims["sub"] == "system:serviceaccount:default:robot"
        assert claims["kubernetes.io/serviceaccount/service-account.uid"] == meta(account).uid
        assert meta(secret).annotations["kubernetes.io/service-account.uid"] == meta(account).uid


async def test_a_token_secret_is_deleted_with_its_account() -> None:
    async with cluster(set_up) as c:
        await c.create(SERVICE_ACCOUNTS, ROBOT)
        await c.create(SECRETS, SECRET)
        await c.until(SECRETS, "t", complete)
        await c.delete(SERVICE_ACCOUNTS, "robot")
        await c.until_gone(SECRETS, "t")


async def test_a_token_secret_without_account_is_deleted() -> None:
    async with cluster(set_up) as c:
        await c.create(SECRETS, SECRET)
        await c.until_gone(SECRETS, "t")
