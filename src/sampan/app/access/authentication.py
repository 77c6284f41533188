"""`Authentication`: creates the authenticators from the settings, in Kubernetes' order, and keeps them up to date.

Source: kubernetes pkg/kubeapiserver/authenticator/config.go, pkg/kubeapiserver/options/authentication.go (1.36).
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from sampan.app.access.oidc import oidc_configuration
from sampan.app.errors import StartError, content_of
from sampan.app.keep_running import keep_running
from sampan.app.settings.authentication import AuthenticationSettings
from sampan.app.settings.up import UpSettings
from sampan.core.tokens.keys import (
    SigningKey,
    VerifyingKey,
    make_signing_key,
    read_signing_key,
    read_verifying_keys,
)
from sampan.registry.cluster import Cluster
from sampan.registry.webhook.client import HttpsWebhook
from sampan.registry.webhook.kubeconfig import read_webhook_kubeconfig
from sampan.registry.webhook.services import ServiceResolver
from sampan.server.authentication.anonymous import ANYWHERE, AnonymousAuthenticator
from sampan.server.authentication.authenticator import Authenticator, TokenAuthenticator
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.authentication.bootstrap_token import BootstrapTokens
from sampan.server.authentication.client_certificate import ClientCertificateAuthenticator
from sampan.server.authentication.jwt.configuration import AuthenticationConfiguration
from sampan.server.authentication.jwt.configured import (
    ConfiguredIssuers,
    IssuerRules,
    anonymous_paths,
    read_configuration,
)
from sampan.server.authentication.jwt.verifier import ALGORITHMS
from sampan.server.authentication.request_header import RequestHeaderAuthenticator, RequestHeaders
from sampan.server.authentication.service_account.counts import TokenCounts
from sampan.server.authentication.service_account.discovery import IssuerDiscovery
from sampan.server.authentication.service_account.issuer import IssuePolicy, TokenIssuer
from sampan.server.authentication.service_account.tokens import ServiceAccountTokens
from sampan.server.authentication.static_token import StaticTokenAuthenticator, read_token_file
from sampan.server.authentication.token_service import TokenService
from sampan.server.authentication.webhook_token import WebhookTokens, WebhookTokenSettings
from sampan.server.authentication.websocket_token import WebSocketTokenAuthenticator
from sampan.server.dashboard.oidc import OidcIssuer
from sampan.server.dashboard.settings import DashboardSettings
from sampan.server.metrics.security import SecurityMetrics
from sampan.server.pki.client_verifier import ClientCertificateVerifier, read_authorities
from sampan.server.pki.directory import (
    ADMIN_GROUPS,
    ADMIN_USER,
    FRONT_PROXY_USER,
    ServerCredentials,
    write_private,
)
from sampan.server.post_start_hooks.api_servers.keys import KeyUse, ServerKeys, digest
from sampan.server.post_start_hooks.extension_authentication import publish_authentication
from sampan.server.post_start_hooks.legacy_token_tracking import LastUse, TrackingSince
from sampan.server.request import UserInfo


class Authentication:
    """Authenticators of one server. Raises `StartError` if a file cannot be used.

    `address` returns host and port of the server, for the discovery document of its token issuer.
    """

    def __init__(
        self,
        settings: UpSettings,
        credentials: ServerCredentials,
        verifier: ClientCertificateVerifier,
        cluster: Cluster,
        address: Callable[[], str],
        metrics: SecurityMetrics | None = None,
    ) -> None:
        self.metrics = metrics or SecurityMetrics()
        self._settings, self._options, self._cluster = settings, settings.authentication, cluster
        self._credentials = credentials
        self._webhook: HttpsWebhook | None = None
        with _start_errors():
            configuration = self._configuration()
            self.login_issuer = _login_issuer(settings.dashboard, configuration)
            """Issuer at which users of the dashboard can log in; None without an issuer."""
            self._issuers = self._configured(configuration)
            self.identity = self._identity(address)
            self.request_headers, proxies = self._front_proxy()
            self.keys = self._keys(proxies)
            """Public keys that other servers on the store need."""
        self.anonymous = _anonymous(self._options, configuration)
        self.authenticators: list[Authenticator] = [
            RequestHeaderAuthenticator(ClientCertificateVerifier(proxies), self.request_headers),
            ClientCertificateAuthenticator(verifier),
            BearerTokenAuthenticator(self.identity.tokens, metrics=self.metrics.tokens),
            WebSocketTokenAuthenticator(self.identity.tokens),
        ]

    async def run(self) -> None:
        """Keep the external issuers up to date until cancelled, then close the connections of the webhook."""
        try:
            await self._issuers.run()
        finally:
            if self._webhook is not None:
                self._webhook.close()

    async def publish(self) -> None:
        """Publish how clients are authenticated, and the date since which tokens in Secrets are tracked.

        The server must be ready. Retries until both are stored.
        """
        if not self._settings.read_only:
            await keep_running("publishing how clients are authenticated", self._publish)
            await keep_running("tracking of tokens in Secrets", TrackingSince(self._cluster).run)

    async def _publish(self) -> None:
        await publish_authentication(self._cluster, self.published())

    # --- tokens

    def _identity(self, address: Callable[[], str]) -> TokenService:
        options = self._options
        signing = self._signing_key()
        keys = self._verifying_keys(signing)
        policy = IssuePolicy(
            options.service_account_max_token_expiration_s, options.service_account_extend_token_expiration
        )
        issuer = options.service_account_issuers[0]
        discovery = IssuerDiscovery(issuer, keys, address, jwks_uri=options.service_account_jwks_uri)
        counts = TokenCounts()
        issuing = TokenIssuer(issuer, signing, policy)
        return TokenService(self._tokens(keys, counts), options.audiences, issuing, discovery, counts)

    def _tokens(self, keys: list[VerifyingKey], counts: TokenCounts) -> list[TokenAuthenticator]:
        options, reader = self._options, self._cluster.reader
        admin = UserInfo(ADMIN_USER, groups=ADMIN_GROUPS)
        tokens: list[TokenAuthenticator] = [StaticTokenAuthenticator({self._credentials.admin_token: admin})]
        if self._options.token_auth_file:
            with content_of(self._options.token_auth_file):
                tokens.append(StaticTokenAuthenticator(read_token_file(self._options.token_auth_file)))
        tokens.append(
            ServiceAccountTokens(
                reader,
                keys,
                issuers=options.service_account_issuers,
                api_audiences=options.audiences,
                counts=counts,
                note_use=None if self._settings.read_only else LastUse(self._cluster).note,
            )
        )
        if options.enable_bootstrap_token_auth:
            tokens.append(BootstrapTokens(reader))
        tokens.append(self._issuers)
        if options.webhook_config_file:
            target, shown = read_webhook_kubeconfig(options.webhook_config_file)
            self._webhook = HttpsWebhook(
                target, ServiceResolver(reader), shown, requests=self._cluster.measures.requests
            )
            token_settings = WebhookTokenSettings(
                options.webhook_version, options.webhook_cache_ttl_s, options.audiences
            )
            tokens.append(WebhookTokens(self._webhook, token_settings))
        return tokens

    def _signing_key(self) -> SigningKey:
        file = self._options.service_account_signing_key_file
        if file is not None:
            return _signing_key(file)
        own = self._settings.data / "pki" / "sa.key"
        if own.exists():
            return _signing_key(own)
        key = make_signing_key()
        write_private(own, key.pem())
        write_private(own.with_suffix(".pub"), key.public_pem())
        return key

    def _verifying_keys(self, signing: SigningKey) -> list[VerifyingKey]:
        """Return the keys without duplicates, the signing key first."""
        keys = {signing.verifying.key_id: signing.verifying}
        for file in self._options.service_account_key_files:
            with content_of(file):
                keys.update({key.key_id: key for key in read_verifying_keys(file)})
        return list(keys.values())

    # --- external issuers

    def _configuration(self) -> AuthenticationConfiguration:
        options = self._options
        if options.authentication_config is None:
            return oidc_configuration(options.oidc)
        if options.oidc.issuer_url:
            raise StartError("--authentication-config and --oidc-issuer-url exclude each other")
        with content_of(options.authentication_config):
            return read_configuration(options.authentication_config)

    def _configured(self, configuration: AuthenticationConfiguration) -> ConfiguredIssuers:
        options = self._options
        algorithms = ALGORITHMS if options.authentication_config else options.oidc.signing_algs
        rules = IssuerRules(options.service_account_issuers, algorithms, metrics=self.metrics.issuers)
        reloads = self.metrics.authentication_config
        return ConfiguredIssuers(configuration, rules, file=options.authentication_config, reloads=reloads)

    # --- the front proxy

    @property
    def _front_proxy_ca(self) -> Path:
        return self._options.request_header.client_ca_file or self._credentials.front_proxy_ca_file

    def _front_proxy(self) -> tuple[RequestHeaders, list[x509.Certificate]]:
        """Return the header names, and the CAs of the proxies that may set them."""
        options = self._options.request_header
        headers = RequestHeaders(
            _lower(options.username_headers),
            _lower(options.uid_headers),
            _lower(options.group_headers),
            _lower(options.extra_headers_prefix),
            self._allowed_names(),
        )
        return headers, read_authorities(self._front_proxy_ca.read_bytes(), self._front_proxy_ca)

    def _keys(self, proxies: list[x509.Certificate]) -> ServerKeys:
        options, own = self._options, self._credentials
        signing = self._signing_key()
        accepted = [key.key_id for key in self._verifying_keys(signing)]
        keys = {"service-accounts": KeyUse(signing.verifying.key_id, frozenset(accepted))}
        clients = read_authorities(self.published()["client-ca-file"].encode())
        keys["ca"] = _use(own.ca_file, clients)
        if options.request_header.client_ca_file is None:
            keys["front-proxy"] = _use(own.front_proxy_ca_file, proxies)
        return keys

    def _allowed_names(self) -> tuple[str, ...]:
        options = self._options.request_header
        return options.allowed_names if options.client_ca_file else options.allowed_names or (FRONT_PROXY_USER,)

    def published(self) -> dict[str, str]:
        """Return the settings that extension API servers read to authenticate clients as this server does."""
        options = self._options.request_header
        files = [self._credentials.ca_file, *filter(None, [self._options.client_ca_file])]
        return {
            "client-ca-file": "".join(file.read_text() for file in files),
            "requestheader-client-ca-file": self._front_proxy_ca.read_text(),
            "requestheader-allowed-names": json.dumps(self._allowed_names()),
            "requestheader-username-headers": json.dumps(options.username_headers),
            "requestheader-uid-headers": json.dumps(options.uid_headers),
            "requestheader-group-headers": json.dumps(options.group_headers),
            "requestheader-extra-headers-prefix": json.dumps(options.extra_headers_prefix),
        }


def _login_issuer(settings: DashboardSettings, configuration: AuthenticationConfiguration) -> OidcIssuer | None:
    """Return the first issuer, of which this server is the client of the first audience."""
    file = settings.oidc_client_secret_file
    secret = _client_secret(file) if file is not None else ""
    issuer = next((each.issuer for each in configuration.jwt if each.issuer.audiences), None)
    if issuer is None:
        return None
    scopes = settings.oidc_scopes
    return OidcIssuer(
        issuer.url, issuer.audiences[0], issuer.certificate_authority, issuer.discovery_url, secret, scopes
    )


def _client_secret(file: Path) -> str:
    """Return the secret in a file. Raises `ValueError` if the file contains something else."""
    secret = file.read_bytes().strip()
    if not re.fullmatch(rb"[!-~]+", secret):
        raise ValueError(f"{file}: must contain a client secret: one line of printable ASCII characters without spaces")
    return secret.decode("ascii")


def _anonymous(
    options: AuthenticationSettings, configuration: AuthenticationConfiguration
) -> AnonymousAuthenticator | None:
    """Return the authenticator of anonymous requests. Raises `StartError` if option and file both set it."""
    anonymous = configuration.anonymous
    if anonymous is None:
        return None if options.anonymous_auth is False else ANYWHERE
    if options.anonymous_auth is not None:
        raise StartError("--anonymous-auth may not be given when the authentication configuration has `anonymous`")
    return AnonymousAuthenticator(anonymous_paths(anonymous)) if anonymous.enabled else None


def _use(file: Path, accepted: list[x509.Certificate]) -> KeyUse:
    """Return the CA certificate in the file and all accepted CA certificates, as digests."""
    [own] = read_authorities(file.read_bytes(), file)[:1]
    return KeyUse(_digest_of(own), frozenset(map(_digest_of, accepted)))


def _digest_of(certificate: x509.Certificate) -> str:
    return digest(certificate.public_bytes(serialization.Encoding.DER))


def _signing_key(file: Path) -> SigningKey:
    try:
        return read_signing_key(file.read_bytes())
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _lower(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in names)


@contextmanager
def _start_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StartError(f"cannot read {error.filename}: {error.strerror}") from error
    except ValueError as error:
        raise StartError(str(error)) from error
