"""`AuthenticationSettings`: the settings of `sampan up` about authentication. Names are kube-apiserver's."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.core.settings import ValueKind, nested, setting
from sampan.core.settings.kinds import BOOLEAN, CERTIFICATES_FILE, DURATION, FILE, TEXT, TEXTS, list_of, one_of

DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local"
HEADERS = ("X-Remote-User",), ("X-Remote-Uid",), ("X-Remote-Group",), ("X-Remote-Extra-",)
TOKENS: Final = "Service account tokens"
"""Group of the options about tokens of service accounts."""
_HOUR_S, _LONGEST_S = 3600, 1 << 32


def _read_pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ValueError(f"{text!r} is not CLAIM=VALUE")
    return name, value


def _read_expiration(text: str) -> int:
    found = DURATION.read(text)
    if found and not _HOUR_S <= found <= _LONGEST_S:
        raise ValueError("must be between 1 hour and 2^32 seconds")
    return int(found)


_NAMES: Final = list_of(TEXT, repeat=True, metavar="NAMES")
_CLAIMS: Final = list_of(ValueKind("CLAIM=VALUE", _read_pair, "=".join), separator="", repeat=True)
_EXPIRATION: Final = ValueKind("DURATION", _read_expiration, DURATION.write)
_FILES: Final = list_of(FILE, separator="", repeat=True)


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """One issuer, described by options instead of a file."""

    issuer_url: str = setting("", "URL (https) of an issuer of JWTs. Needs --oidc-client-id.")
    client_id: str = setting("", "Audience that the tokens must have.")
    ca_file: Path | None = setting(
        None, "CA certificates for the issuer's server.", kind=CERTIFICATES_FILE, default="those of the system"
    )
    username_claim: str = setting("sub", "Claim with the user name.")
    username_prefix: str = setting(
        "", "Prefix of user names; - is none.", default="the issuer's URL and #; none for the claim email"
    )
    groups_claim: str = setting("", "Claim with the groups of the user.", default="none: no groups")
    groups_prefix: str = setting("", "Prefix of groups.")
    required_claims: tuple[tuple[str, str], ...] = setting(
        (), "Claim and value that a token must have. Can be repeated.", name="required-claim", kind=_CLAIMS
    )
    signing_algs: tuple[str, ...] = setting(("RS256",), "Accepted signing algorithms.", kind=_NAMES)


@dataclass(frozen=True, slots=True)
class RequestHeaderSettings:
    """A front proxy. Without a CA file: the server's own front-proxy CA."""

    client_ca_file: Path | None = setting(
        None,
        "CA certificates for front proxies, which send the user in headers.",
        kind=CERTIFICATES_FILE,
        default="pki/front-proxy-ca.crt in --data",
    )
    allowed_names: tuple[str, ...] = setting(
        (), "Common names of front proxies.", kind=_NAMES, default="all that the CA has signed"
    )
    username_headers: tuple[str, ...] = setting(HEADERS[0], "Headers with the user name.", kind=_NAMES)
    uid_headers: tuple[str, ...] = setting(HEADERS[1], "Headers with the UID of the user.", kind=_NAMES)
    group_headers: tuple[str, ...] = setting(HEADERS[2], "Headers with the groups of the user.", kind=_NAMES)
    extra_headers_prefix: tuple[str, ...] = setting(
        HEADERS[3], "Prefixes of headers with further attributes of the user.", kind=_NAMES
    )


@dataclass(frozen=True, slots=True)
class AuthenticationSettings:
    """Credentials that the server accepts from its clients, and the files that verify them."""

    client_ca_file: Path | None = setting(
        None, "CA certificates for client certificates, in addition to the server's own CA.", kind=CERTIFICATES_FILE
    )
    token_auth_file: Path | None = setting(
        None, 'CSV file with static tokens: token,user,uid,"group1,group2".', kind=FILE
    )
    anonymous_auth: bool | None = setting(
        None,
        "Accept requests without credentials, as user system:anonymous.",
        kind=BOOLEAN,
        default="true, or as --authentication-config specifies",
    )
    enable_bootstrap_token_auth: bool = setting(
        True, "Accept tokens of Secrets of type bootstrap.kubernetes.io/token, with which nodes join."
    )
    authentication_config: Path | None = setting(
        None, "AuthenticationConfiguration: issuers of JWTs, and anonymous requests.", kind=FILE
    )
    oidc: OidcSettings = nested(OidcSettings, prefix="oidc-")
    webhook_config_file: Path | None = setting(
        None,
        "Kubeconfig of a webhook that reviews tokens.",
        name="authentication-token-webhook-config-file",
        kind=FILE,
    )
    webhook_version: str = setting(
        "v1",
        "Version of the TokenReviews for that webhook.",
        name="authentication-token-webhook-version",
        kind=one_of("v1", "v1beta1"),
    )
    webhook_cache_ttl_s: float = setting(
        120.0, "Time to cache responses of that webhook.", name="authentication-token-webhook-cache-ttl"
    )
    request_header: RequestHeaderSettings = nested(RequestHeaderSettings, prefix="requestheader-")
    service_account_issuers: tuple[str, ...] = setting(
        (DEFAULT_ISSUER,),
        "Issuer of service account tokens. Can be repeated: new tokens have the first one, all are accepted.",
        name="service-account-issuer",
        kind=TEXTS,
        group=TOKENS,
    )
    service_account_signing_key_file: Path | None = setting(
        None,
        "Private key (RSA or ECDSA) that signs service account tokens.",
        kind=FILE,
        group=TOKENS,
        default="pki/sa.key in --data",
    )
    service_account_key_files: tuple[Path, ...] = setting(
        (),
        "Further keys that verify service account tokens. Can be repeated.",
        name="service-account-key-file",
        kind=_FILES,
        group=TOKENS,
    )
    service_account_max_token_expiration_s: int = setting(
        0,
        "Longest lifetime of a service account token, at least 1h; 0: no limit.",
        name="service-account-max-token-expiration",
        kind=_EXPIRATION,
        group=TOKENS,
    )
    service_account_extend_token_expiration: bool = setting(
        True,
        "Accept the usual tokens of Pods for a year, and record in the audit the use of those that should have been "
        "renewed.",
        group=TOKENS,
    )
    service_account_jwks_uri: str = setting(
        "", "URL of the public keys in the discovery document.", group=TOKENS, default="that of this server"
    )
    api_audiences: tuple[str, ...] = setting(
        (), "Audiences of tokens for this API.", kind=_NAMES, group=TOKENS, default="the issuers"
    )

    @property
    def audiences(self) -> tuple[str, ...]:
        """Audiences of tokens for the API."""
        return self.api_audiences or self.service_account_issuers
