"""`AuthenticationSettings`: what `sampan up` is told about who may be who. Names are kube-apiserver's."""

from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local"
HEADERS = ("X-Remote-User",), ("X-Remote-Uid",), ("X-Remote-Group",), ("X-Remote-Extra-",)


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """One issuer, told by options instead of a file."""

    issuer_url: str = ""
    client_id: str = ""
    ca_file: Path | None = None
    username_claim: str = "sub"
    username_prefix: str = ""
    """"": the issuer's URL with a # for claims that are no e-mail address; "-": none."""
    groups_claim: str = ""
    groups_prefix: str = ""
    required_claims: tuple[tuple[str, str], ...] = ()
    signing_algs: tuple[str, ...] = ("RS256",)


@dataclass(frozen=True, slots=True)
class RequestHeaderSettings:
    """A front proxy. Without a CA file: the server's own front-proxy CA."""

    client_ca_file: Path | None = None
    allowed_names: tuple[str, ...] = ()
    username_headers: tuple[str, ...] = HEADERS[0]
    uid_headers: tuple[str, ...] = HEADERS[1]
    group_headers: tuple[str, ...] = HEADERS[2]
    extra_headers_prefix: tuple[str, ...] = HEADERS[3]


@dataclass(frozen=True, slots=True)
class AuthenticationSettings:
    """Read once, passed down."""

    anonymous_auth: bool | None = None
    """None: not told, which means that they are let in unless the configuration says else."""
    service_account_key_files: tuple[Path, ...] = ()
    """Further keys that verify tokens; none: the one that signs."""
    service_account_signing_key_file: Path | None = None
    """None: pki/sa.key of the data directory, made on the first start."""
    service_account_issuers: tuple[str, ...] = (DEFAULT_ISSUER,)
    """The first one is in the tokens that are issued; all are believed."""
    service_account_jwks_uri: str = ""
    service_account_max_token_expiration_s: int = 0
    """0: as long as is asked for."""
    service_account_extend_token_expiration: bool = True
    api_audiences: tuple[str, ...] = ()
    """None: the issuers."""
    enable_bootstrap_token_auth: bool = False
    authentication_config: Path | None = None
    oidc: OidcSettings = field(default_factory=OidcSettings)
    webhook_config_file: Path | None = None
    webhook_version: str = "v1"
    webhook_cache_ttl_s: float = 120.0
    request_header: RequestHeaderSettings = field(default_factory=RequestHeaderSettings)

    @property
    def audiences(self) -> tuple[str, ...]:
        """For whom tokens of the API are."""
        return self.api_audiences or self.service_account_issuers

    def flags(self) -> tuple[tuple[str, str], ...]:
        """For /flagz."""
        return tuple((name.replace("_", "-"), str(getattr(self, name))) for name in self.__dataclass_fields__)
