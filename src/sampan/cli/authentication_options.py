"""The options of `sampan up` about who may be who. Names and meanings are kube-apiserver's."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from sampan.app.authentication_settings import (
    DEFAULT_ISSUER,
    AuthenticationSettings,
    OidcSettings,
    RequestHeaderSettings,
)
from sampan.cli.durations import seconds

F = TypeVar("F", bound=Callable[..., Any])

_FILE = click.Path(dir_okay=False, path_type=Path)
_OIDC, _DEFAULTS = OidcSettings(), AuthenticationSettings()
_WEBHOOK = "authentication_token_webhook_"
_HOUR_S, _LONGEST_S = 3600, 1 << 32


def _expiration(ctx: click.Context, param: click.Parameter, text: str) -> int:
    found = seconds(ctx, param, text)
    if found and not _HOUR_S <= found <= _LONGEST_S:
        raise click.BadParameter("must be between 1 hour and 2^32 seconds", ctx, param)
    return int(found)


def _names(ctx: click.Context, param: click.Parameter, texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _pairs(ctx: click.Context, param: click.Parameter, texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{text!r} is not CLAIM=VALUE", ctx, param)
        pairs.append((name, value))
    return tuple(pairs)


_OPTIONS = [
    click.option("--anonymous-auth", type=click.BOOL, help="Let in who has no credentials.  [default: true]"),
    click.option(
        "--service-account-key-file",
        "service_account_key_files",
        type=_FILE,
        multiple=True,
        help="Keys that verify service account tokens, besides the one that signs. May be repeated.",
    ),
    click.option(
        "--service-account-signing-key-file",
        type=_FILE,
        help="The key that signs service account tokens (RSA or ECDSA).  [default: pki/sa.key]",
    ),
    click.option(
        "--service-account-issuer",
        "service_account_issuers",
        multiple=True,
        help=f"Who issues service account tokens; the first of several signs.  [default: {DEFAULT_ISSUER}]",
    ),
    click.option("--service-account-jwks-uri", default="", help="Where others find the keys, if not at this server."),
    click.option(
        "--service-account-max-token-expiration",
        "service_account_max_token_expiration_s",
        default="0",
        callback=_expiration,
        metavar="DURATION",
        help="The longest that a service account token may last (1h or more); 0: any time.",
    ),
    click.option(
        "--service-account-extend-token-expiration",
        type=click.BOOL,
        default=_DEFAULTS.service_account_extend_token_expiration,
        show_default=True,
        help="Let the usual tokens of Pods live a year, and note in the audit when they should have been read anew.",
    ),
    click.option(
        "--api-audiences",
        multiple=True,
        callback=_names,
        metavar="NAMES",
        help="For whom tokens of this API are.  [default: the issuers]",
    ),
    click.option(
        "--enable-bootstrap-token-auth",
        type=click.BOOL,
        default=False,
        is_flag=False,
        flag_value=True,
        help="Let nodes join with tokens of Secrets of type bootstrap.kubernetes.io/token.",
    ),
    click.option("--authentication-config", type=_FILE, help="AuthenticationConfiguration: issuers of JWTs."),
    click.option("--oidc-issuer-url", default="", help="An issuer of JWTs (https)."),
    click.option("--oidc-client-id", default="", help="For whom its tokens must be."),
    click.option("--oidc-ca-file", type=_FILE, help="The CA of its certificate, if not one of the system's."),
    click.option("--oidc-username-claim", default=_OIDC.username_claim, show_default=True),
    click.option("--oidc-username-prefix", default="", help="-: none.  [default: the issuer's URL and #]"),
    click.option("--oidc-groups-claim", default=""),
    click.option("--oidc-groups-prefix", default=""),
    click.option(
        "--oidc-required-claim", "oidc_required_claims", multiple=True, callback=_pairs, metavar="CLAIM=VALUE"
    ),
    click.option("--oidc-signing-algs", multiple=True, callback=_names, metavar="NAMES", help="[default: RS256]"),
    click.option(
        "--authentication-token-webhook-config-file", type=_FILE, help="Kubeconfig of a webhook that reviews tokens."
    ),
    click.option("--authentication-token-webhook-version", type=click.Choice(("v1", "v1beta1")), default="v1"),
    click.option(
        "--authentication-token-webhook-cache-ttl",
        f"{_WEBHOOK}cache_ttl_s",
        default="2m0s",
        show_default=True,
        callback=seconds,
        metavar="DURATION",
        help="How long its answers are remembered.",
    ),
    click.option(
        "--requestheader-client-ca-file",
        type=_FILE,
        help="The CA of front proxies, which say in headers who the user is.  [default: pki/front-proxy-ca.crt]",
    ),
    click.option(
        "--requestheader-allowed-names",
        multiple=True,
        callback=_names,
        help="Common names of the proxies; none: all that the CA has signed.",
    ),
    click.option("--requestheader-username-headers", multiple=True, callback=_names),
    click.option("--requestheader-uid-headers", multiple=True, callback=_names),
    click.option("--requestheader-group-headers", multiple=True, callback=_names),
    click.option("--requestheader-extra-headers-prefix", multiple=True, callback=_names),
]


def authentication_options(command: F) -> F:
    """Give a command these options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_authentication(options: dict[str, Any]) -> AuthenticationSettings:
    """Take these options out of a command's options. Values that were not given are the defaults."""
    oidc = _taken(options, "oidc_", OidcSettings)
    headers = _taken(options, "requestheader_", RequestHeaderSettings)
    webhook = {name: options.pop(name) for name in [name for name in options if name.startswith(_WEBHOOK)]}
    names = AuthenticationSettings.__dataclass_fields__
    own = {name: options.pop(name) for name in names if name in options}
    return AuthenticationSettings(
        **{name: value for name, value in own.items() if value not in (None, ())},
        oidc=OidcSettings(**oidc),
        request_header=RequestHeaderSettings(**headers),
        **{f"webhook_{name.removeprefix(_WEBHOOK)}": value for name, value in webhook.items()},
    )


def _taken(options: dict[str, Any], prefix: str, kind: type) -> dict[str, Any]:
    """The options of a group by the fields' names; those that were not given are left out."""
    names = [name for name in options if name.startswith(prefix)]
    found = {name.removeprefix(prefix): options.pop(name) for name in names}
    assert found.keys() <= kind.__dataclass_fields__.keys()  # type: ignore[attr-defined]  # it is a dataclass
    return {name: value for name, value in found.items() if value not in (None, ())}
