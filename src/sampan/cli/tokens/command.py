"""`sampan token create`, `list` and `delete`."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click
from cryptography import x509

from sampan.cli.objects.session import on_server
from sampan.cli.plain_error import PlainError
from sampan.cli.tokens.objects import TokenOptions, cluster_info, permissions, token_secret
from sampan.client import AlreadyExists, Client, Config, ListOptions, NotFound, WaitTimeout, wait_for
from sampan.component_base.resources import CONFIG_MAPS, ENDPOINT_SLICES, SECRETS
from sampan.core.clock import utc_now
from sampan.core.suggestions import did_you_mean
from sampan.core.time import NANOSECONDS_PER_SECOND, format_duration, parse_duration, parse_time
from sampan.core.tokens.bootstrap import (
    CLUSTER_INFO,
    CLUSTER_INFO_NAMESPACE,
    GROUP_PATTERN,
    NODE_GROUP,
    SECRET_NAMESPACE,
    SECRET_PREFIX,
    SECRET_TYPE,
    SIGNATURE_PREFIX,
    USAGES,
    BootstrapToken,
    new_token,
    parse_token,
)
from sampan.kinds import core_v1
from sampan.node.joining.ca_hash import ca_hash
from sampan.resource import meta

DEFAULT_TTL: Final = "24h"
SIGNED_S: Final = 10.0
"""Time that the controller has to sign the cluster information."""
_ID: Final = re.compile(r"[a-z0-9]{6}")
_COLUMNS: Final = "{:<25}{:<13}{:<23}{:<26}{:<50}{}"


def _duration(ctx: click.Context, param: click.Parameter, text: str) -> dt.timedelta | None:
    """Parse a duration and return it; None for 0, which means that the token never expires."""
    try:
        found = parse_duration(text) / NANOSECONDS_PER_SECOND
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    if found < 0:
        raise click.BadParameter(f"{text} is negative")
    return dt.timedelta(seconds=found) if found else None


def _usages(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(part for text in texts for part in text.split(","))
    wrong = [each for each in found if each not in USAGES]
    if wrong:
        hint = did_you_mean(wrong[0], USAGES)
        raise click.BadParameter(f"{wrong[0]!r} is none of {', '.join(USAGES)}{hint}")
    return found


def _groups(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(part for text in texts for part in text.split(","))
    wrong = [each for each in found if GROUP_PATTERN.fullmatch(each) is None]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} does not match {GROUP_PATTERN.pattern}")
    return found


def _token(ctx: click.Context, param: click.Parameter, text: str | None) -> BootstrapToken:
    try:
        return new_token() if text is None else parse_token(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.group("token")
def token_command() -> None:
    """Manage bootstrap tokens, with which machines join the cluster."""


def _create(function: Any) -> Any:
    return on_server(function, with_config=True)


@token_command.command("create")
@click.argument("created", metavar="[TOKEN]", required=False, callback=_token)
@click.option(
    "--ttl", default=DEFAULT_TTL, show_default=True, callback=_duration, help="Time until it expires; 0: it never does."
)
@click.option("--usages", multiple=True, default=USAGES, show_default=True, callback=_usages, help="Uses of the token.")
@click.option(
    "--groups", multiple=True, default=(NODE_GROUP,), show_default=True, callback=_groups, help="Groups of its user."
)
@click.option("--description", default="", help="Text for people.")
@click.option("--print-join-command", is_flag=True, help="Print the whole command for the machine that joins.")
@_create
async def create_command(
    client: Client,
    created: BootstrapToken,
    ttl: dt.timedelta | None,
    *,
    usages: tuple[str, ...],
    groups: tuple[str, ...],
    description: str,
    print_join_command: bool,
    config: Config,
) -> None:
    """Create a token, and the permissions that machines need to join. Without TOKEN it is random."""
    options = TokenOptions(None if ttl is None else utc_now() + ttl, usages, groups, description)
    authorities, server = _ca(config), await _server(client, config)
    await _publish(client, cluster_info(server, authorities))
    for kind, obj in permissions():
        await client.resource(kind, namespace=meta(obj).namespace).apply(obj, force=True)
    try:
        await client.resource(SECRETS, namespace=SECRET_NAMESPACE).create(token_secret(created, options))
    except AlreadyExists:
        raise PlainError(f"error: a token with the id {created.id} already exists") from None
    await _signed(client, created, usages)
    click.echo(join_command_of(server, created, authorities) if print_join_command else str(created))
    if print_join_command and _is_loopback(server):
        click.echo("Warning: the server has a loopback address; start it with --bind 0.0.0.0 for others", err=True)


@token_command.command("list")
@on_server
async def list_command(client: Client) -> None:
    """List the tokens. Their secret parts are not shown."""
    options = ListOptions(field_selector=f"type={SECRET_TYPE}")
    found = await client.resource(SECRETS, namespace=SECRET_NAMESPACE).list(options)
    click.echo(_COLUMNS.format("TOKEN", "TTL", "EXPIRES", "USAGES", "DESCRIPTION", "EXTRA GROUPS"))
    for secret in found:
        click.echo(_row(secret))


def _row(secret: core_v1.Secret) -> str:
    data = {
        key: base64.b64decode(value).decode("utf-8", "replace") for key, value in (secret.get("data") or {}).items()
    }
    expiration = data.get("expiration", "")
    usages = ",".join(usage for usage in USAGES if data.get(f"usage-bootstrap-{usage}") == "true")
    identifier = data.get("token-id") or meta(secret).name.removeprefix(SECRET_PREFIX)
    return _COLUMNS.format(
        f"{identifier}.<hidden>",
        _left(expiration),
        expiration or "<never>",
        usages or "<none>",
        data.get("description") or "<none>",
        data.get("auth-extra-groups") or "<none>",
    )


def _left(expiration: str) -> str:
    if not expiration:
        return "<forever>"
    try:
        left_s = (parse_time(expiration) - utc_now()).total_seconds()
    except ValueError:
        return "<invalid>"
    return format_duration(int(left_s) * NANOSECONDS_PER_SECOND) if left_s > 0 else "<expired>"


@token_command.command("delete")
@click.argument("tokens", metavar="TOKEN…", nargs=-1, required=True)
@on_server
async def delete_command(client: Client, tokens: tuple[str, ...]) -> int:
    """Delete tokens by id, or by the whole token. Nodes that have joined stay."""
    secrets = client.resource(SECRETS, namespace=SECRET_NAMESPACE)
    code = 0
    for text in tokens:
        identifier = text.partition(".")[0]
        if _ID.fullmatch(identifier) is None:
            raise PlainError("error: the id of a token has 6 characters of a-z and 0-9")
        try:
            await secrets.delete(SECRET_PREFIX + identifier)
            click.echo(f"token {identifier} deleted")
        except NotFound:
            click.echo(f"error: there is no token {identifier}", err=True)
            code = 1
    return code


async def _publish(client: Client, info: core_v1.ConfigMap) -> None:
    """Create the cluster information, or update it if the CA has changed."""
    config_maps = client.resource(CONFIG_MAPS, namespace=CLUSTER_INFO_NAMESPACE)
    try:
        current = await config_maps.get(CLUSTER_INFO)
    except NotFound:
        await config_maps.create(info)
        return
    if (current.get("data") or {}).get("kubeconfig") != info["data"]["kubeconfig"]:
        await config_maps.apply(info, force=True)


async def _signed(client: Client, token: BootstrapToken, usages: tuple[str, ...]) -> None:
    """Wait until the cluster information is signed with a token, or print a warning."""
    if "signing" not in usages:
        return
    config_maps = client.resource(CONFIG_MAPS, namespace=CLUSTER_INFO_NAMESPACE)
    key = SIGNATURE_PREFIX + token.id

    def has_signature(info: core_v1.ConfigMap | None) -> bool:
        return info is not None and key in (info.get("data") or {})

    try:
        await wait_for(config_maps, CLUSTER_INFO, has_signature, timeout_s=SIGNED_S)
    except WaitTimeout:
        click.echo(
            "Warning: the cluster information is not signed with the token: bootstrap-signer-controller must run "
            "(--controllers)",
            err=True,
        )


async def _server(client: Client, config: Config) -> str:
    """Return the URL of the server for other machines.

    The kubeconfig on the server's machine has a loopback address; then an endpoint of the Service `kubernetes` is used.
    """
    if not _is_loopback(config.server):
        return config.server.rstrip("/")
    slices = client.resource(ENDPOINT_SLICES, namespace="default")
    found = await slices.list(ListOptions(label_selector="kubernetes.io/service-name=kubernetes"))
    for slice in found:
        for endpoint in slice.get("endpoints") or ():
            for address in endpoint["addresses"]:
                host = f"[{address}]" if ":" in address else address
                return f"https://{host}:{slice['ports'][0]['port']}"
    return config.server.rstrip("/")


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _ca(config: Config) -> str:
    tls = config.tls
    if tls.ca_data:
        return tls.ca_data.decode()
    if tls.ca_file:
        return Path(tls.ca_file).read_text()
    raise PlainError("error: the kubeconfig has no certificate authority, so machines that join could not verify it")


def join_command_of(server: str, token: BootstrapToken, ca_pem: str) -> str:
    """Return the command with which a machine joins."""
    hashes = [ca_hash(certificate) for certificate in x509.load_pem_x509_certificates(ca_pem.encode())]
    return f"sampan join {server} --token {token} " + " ".join(f"--ca-cert-hash {each}" for each in hashes)
