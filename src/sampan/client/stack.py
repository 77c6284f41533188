"""`connect_transport`: the stack of transports for a `Config`.

From the outermost to the innermost: warnings, retries, counts, rate limit, identity, credentials, redirects, HTTP.
"""

from dataclasses import replace
from pathlib import Path

from sampan.client.config.config import Config
from sampan.client.errors import ConfigError
from sampan.client.identity import IdentityTransport
from sampan.client.retries.retry import RetryingTransport, RetryPolicy
from sampan.client.transport import Transport
from sampan.client.transports.credentials import (
    ClientCertificateFiles,
    Credentials,
    CredentialSource,
    CredentialsTransport,
    StaticCredentials,
    TokenFile,
)
from sampan.client.transports.exec_plugin import ExecPlugin, cluster_info
from sampan.client.transports.rate_limit import RateLimit, RateLimitingTransport
from sampan.client.transports.redirects import RedirectsTransport
from sampan.client.transports.request_counts import CountingTransport, RequestCounts
from sampan.client.transports.warnings import WarningHandler, WarningsTransport
from sampan.http.client.address import ProxyAddress, ServerAddress
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.transport import HttpTransport


def connect_transport(
    config: Config,
    *,
    settings: HttpClientSettings | None = None,
    retry: RetryPolicy | None = None,
    rate_limit: RateLimit | None = None,
    warnings: WarningHandler | None = None,
    counts: RequestCounts | None = None,
) -> Transport:
    """Return a transport for the server of `config`. Connections are made on demand; close it with `aclose`.

    There is no `rate_limit` by default. `warnings` defaults to logging each text once. `counts` gets the server's
    address and counts every attempt. Raises `ConfigError` for a malformed address.
    """
    try:
        address = ServerAddress.parse(config.server)
        proxy = ProxyAddress.parse(config.proxy_url) if config.proxy_url else None
    except ValueError as error:
        raise ConfigError(str(error)) from error
    settings = settings or HttpClientSettings()
    settings = replace(settings, compression=settings.compression and config.compression)
    http = HttpTransport(address, tls=config.tls, proxy=proxy, settings=settings)
    transport: Transport = RedirectsTransport(http, address)
    source = credential_source(config)
    if source is not None:
        transport = CredentialsTransport(transport, source, use_certificate=http.use_certificate)
    transport = IdentityTransport(transport, user_agent=config.user_agent, impersonation=config.impersonation)
    if rate_limit is not None:
        transport = RateLimitingTransport(transport, rate_limit)
    if counts is not None:
        counts.host = address.authority
        transport = CountingTransport(transport, counts)
    transport = RetryingTransport(transport, retry)
    return WarningsTransport(transport, warnings)


def credential_source(config: Config) -> CredentialSource | None:
    """Return the source of the client's credentials; None if it has none, or only a fixed client certificate.

    A password takes precedence over a token. A program is only run without other credentials.

    Source: client-go transport/round_trippers.go, HTTPWrappersForConfig (1.36).
    """
    source = _header_source(config)
    tls = config.tls
    if tls.certificate_file and tls.key_file and not (tls.certificate_data or tls.key_data):
        inner = source or StaticCredentials(Credentials())
        return ClientCertificateFiles(Path(tls.certificate_file), Path(tls.key_file), inner)
    return source


def _header_source(config: Config) -> CredentialSource | None:
    if config.username or config.password:
        return StaticCredentials(Credentials.basic(config.username, config.password))
    if config.token_file:
        return TokenFile(Path(config.token_file), first=config.token)
    if config.token:
        return StaticCredentials(Credentials.bearer(config.token))
    if config.exec is not None and not config.tls.shows_certificate:
        cluster = cluster_info(config) if config.exec.provide_cluster_info else None
        return ExecPlugin(config.exec, cluster=cluster, environ=config.environ)
    return None
