"""Signatures of the cluster information, and the end of expired tokens."""

import datetime as dt
from typing import Any

from sampan.cli.tokens.objects import TokenOptions, cluster_info, token_secret
from sampan.component_base.resources import CONFIG_MAPS, NAMESPACES, SECRETS
from sampan.controllers.tokens import bootstrap_tokens
from sampan.core.tokens.bootstrap import BootstrapToken, is_signed
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster

TOKEN = BootstrapToken("abcdef", "0123456789abcdef")
OTHER = BootstrapToken("bcdefg", "0123456789abcdef")
SIGNATURE = "jws-kubeconfig-abcdef"


async def create(c: Working, token: BootstrapToken, options: TokenOptions = TokenOptions(None)) -> None:
    await c.client.resource(SECRETS, namespace="kube-system").create(token_secret(token, options))


async def signatures(c: Working, *expected: str) -> dict[str, Any]:
    """Wait until the cluster information has exactly these signatures, and return its data."""
    name = CONFIG_MAPS, "cluster-info"
    public = Working(c.client.with_defaults(namespace="kube-public"), c.manager)
    found = await public.until(
        *name, lambda info: {key for key in info["data"] if key.startswith("jws-")} == set(expected)
    )
    data: dict[str, Any] = found["data"]
    return data


async def test_the_cluster_information_is_signed_with_each_token() -> None:
    async with cluster(bootstrap_tokens.set_up_signer) as c:
        await c.client.resource(CONFIG_MAPS).create(cluster_info("https://a:1", "CA"))
        await create(c, TOKEN)
        await create(c, OTHER, TokenOptions(None, usages=("authentication",)))
        data = await signatures(c, SIGNATURE)
        assert is_signed(data["kubeconfig"], data[SIGNATURE], TOKEN)
        await c.client.resource(SECRETS, namespace="kube-system").delete(TOKEN.secret_name)
        await signatures(c)


async def test_only_expired_tokens_are_deleted() -> None:
    clock = SetClock()
    async with cluster(bootstrap_tokens.set_up_cleaner, clock=clock) as c:
        await create(c, OTHER, TokenOptions(clock.now() + dt.timedelta(hours=1)))
        await create(c, TOKEN, TokenOptions(clock.now() - dt.timedelta(seconds=1)))
        system = Working(c.client.with_defaults(namespace="kube-system"), c.manager)
        await system.until_gone(SECRETS, TOKEN.secret_name)
        assert await system.exists(SECRETS, OTHER.secret_name)
        assert await c.exists(NAMESPACES, "kube-system")
