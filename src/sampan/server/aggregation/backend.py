"""`Backends`: the servers behind APIServices, as targets of the proxy.

Source: kube-aggregator pkg/apiserver/handler_proxy.go, apiserver pkg/util/proxy/proxy.go, client-go
transport/round_trippers.go (1.36).
"""

import ssl

from sampan.core.tls.trust import client_context, unverified_context
from sampan.registry.webhook.services import Resolve, ServiceError
from sampan.server.aggregation.api_service import ApiService
from sampan.server.aggregation.settings import AggregationSettings
from sampan.server.proxy.target import ProxyTarget, TargetAddress
from sampan.server.request import UserInfo
from sampan.streams.tunnels import NodeTunnels
from sampan.wire.http1 import fits

AGGREGATOR = UserInfo("system:kube-aggregator", groups=("system:masters",))
"""User of the server's requests to backends."""
_CONTEXTS_MAX = 256
_HTTP_1 = ["http/1.1"]
_KEY_CHARACTERS = frozenset(b"!#$&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


class BadIdentity(ValueError):
    """The user cannot be represented in headers."""


class Backends:
    """Builds targets. A TLS context is created once for each way to verify."""

    def __init__(self, resolve: Resolve, settings: AggregationSettings, tunnels: NodeTunnels | None = None) -> None:
        self._resolve = resolve
        self._tunnels = tunnels or NodeTunnels()
        self._settings = settings
        self._contexts: dict[tuple[str, bool], ssl.SSLContext] = {}

    def target(self, api_service: ApiService, user: UserInfo, path: str, query: str = "") -> ProxyTarget:
        """Return the next endpoint of the Service, and others to try after it; `path` is percent-encoded.

        **Raises** `ServiceError`, `BadIdentity`, and `OSError` (`ssl.SSLError`) for unusable TLS settings.
        """
        service = api_service.service
        if service is None:
            raise ServiceError(f"{api_service.name} has no service")
        found = self._resolve(service.namespace, service.name, service.port)
        (host, port, node), *alternatives = found
        return ProxyTarget(
            service.host,
            port,
            path,
            query,
            self._context(api_service.ca_pem, api_service.insecure),
            address=host,
            authority=f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
            lines=identity_lines(user),
            way=self._tunnels.to(node),
            alternatives=[TargetAddress(each.host, each.port, self._tunnels.to(each.node)) for each in alternatives],
        )

    def _context(self, ca_pem: str, insecure: bool) -> ssl.SSLContext:
        key = (ca_pem, insecure)
        known = self._contexts.get(key)
        if known is None:
            if len(self._contexts) >= _CONTEXTS_MAX:
                self._contexts.clear()
            known = self._contexts[key] = self._made(ca_pem, insecure)
        return known

    def _made(self, ca_pem: str, insecure: bool) -> ssl.SSLContext:
        if insecure:
            context = unverified_context(protocols=_HTTP_1)
        else:
            context = client_context(ca_pem or None, protocols=_HTTP_1)
        if self._settings.client_certificate is not None:
            context.load_cert_chain(self._settings.client_certificate, self._settings.client_key)
        return context


def identity_lines(user: UserInfo) -> list[tuple[str, str]]:
    """Return the headers that identify the user to a backend. **Raises** `BadIdentity` rather than omit a part."""
    lines = [("X-Remote-User", user.name)]
    if user.uid:
        lines.append(("X-Remote-Uid", user.uid))
    lines += [("X-Remote-Group", group) for group in user.groups]
    lines += [(f"X-Remote-Extra-{_escaped(key)}", value) for key, values in user.extra.items() for value in values]
    if not all(fits(name, value) for name, value in lines):
        raise BadIdentity("the user cannot be represented in headers")
    return lines


def _escaped(key: str) -> str:
    return "".join(chr(byte) if byte in _KEY_CHARACTERS else f"%{byte:02X}" for byte in key.encode())
