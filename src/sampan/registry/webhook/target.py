"""`WebhookTarget`: address of a webhook, from its clientConfig.

Source: apiserver pkg/util/webhook/client.go, client-go rest/url_utils.go, rest/request.go (1.36).
"""

import base64
import binascii
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit
from urllib.parse import quote as percent_encoded

from sampan.core.addresses.url import split_url
from sampan.core.field import quote

_PATH_SAFE = "$&+,/:;=@~"
"""Characters that Go's net/url does not escape in a path, besides letters, digits and `-_.`."""


def clean_path(path: str) -> str:
    """Return the path that client-go requests: absolute, without empty, `.` and `..` segments or a slash at the end."""
    return percent_encoded(posixpath.normpath("/" + unquote(path).lstrip("/")), safe=_PATH_SAFE)


@dataclass(frozen=True, slots=True)
class ClientConfigService:
    """Service that runs a webhook."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """Address of a webhook. `path` begins with a slash and includes the query; `ca_pem` "" means the system's CAs.

    The certificate is checked against `host` and `port`. Without a service the client also connects to them.
    """

    host: str
    port: int
    path: str
    ca_pem: str = ""
    service: ClientConfigService | None = None
    secure: bool = True
    """False: without TLS. Only webhooks of kubeconfigs may be insecure."""
    is_setting: bool = False
    """A setting of the server names the host. If an object names it, it must not be link-local (`core.dial`)."""

    @property
    def authority(self) -> str:
        """Return `host:port`, as in the URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = 443 if self.secure else 80
        return host if self.port == usual and self.service is None else f"{host}:{self.port}"

    @property
    def scheme(self) -> str:
        """Return `https` or `http`."""
        return "https" if self.secure else "http"

    def url(self, query: str) -> str:
        """Return the URL for error texts, with a query ("" for none)."""
        return f"{self.scheme}://{self.authority}{self.path_with(query)}"

    def path_with(self, query: str) -> str:
        """Return the path with this query appended to the query that it already has."""
        if not query:
            return self.path
        return f"{self.path}{'&' if '?' in self.path else '?'}{query}"

    def elsewhere(self, location: str) -> "WebhookTarget":
        """Return the target that a redirect names. Raises `ValueError` if the new target is less secure than
        this one.
        """
        url = split_url(urljoin(f"{self.scheme}://{self.authority}{self.path}", location))
        if url.scheme not in ("https", self.scheme) or not url.hostname:
            raise ValueError(f"unsupported protocol scheme {quote(url.scheme)}")
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        secure = url.scheme == "https"
        port = url.port or (443 if secure else 80)
        service = self.service if (url.hostname, port) == (self.host, self.port) else None
        return replace(self, host=url.hostname, port=port, path=path, service=service, secure=secure)


def target_of(config: Mapping[str, Any]) -> WebhookTarget:
    """Return the target of a validated clientConfig (`url` or `service`, and `caBundle`)."""
    ca_pem = _pem(config.get("caBundle") or "")
    service = config.get("service")
    if service is None:
        url = urlsplit(config["url"])
        path = clean_path(url.path) + (f"?{url.query}" if url.query else "")
        return WebhookTarget(url.hostname or "", _port_of(url), path, ca_pem)
    namespace, name = service["namespace"], service["name"]
    host = f"{name}.{namespace}.svc"
    path = clean_path(service.get("path") or "")
    return WebhookTarget(host, service.get("port") or 443, path, ca_pem, ClientConfigService(namespace, name))


def _port_of(url: SplitResult) -> int:
    """Return the port of a webhook's URL. Return 0, to which no connection succeeds, if the URL has an invalid port.

    New objects with such a URL are refused. A URL that was stored without that check must fail like an unreachable
    webhook, not with an internal error.
    """
    try:
        return 443 if url.port is None else url.port
    except ValueError:
        return 0


def _pem(bundle: str) -> str:
    try:
        return base64.b64decode(bundle, validate=True).decode("ascii", "ignore")
    except (binascii.Error, ValueError):
        return bundle
