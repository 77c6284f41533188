"""Authentication of an extension API server: it authenticates clients as the API server in front of it does.

The ConfigMap kube-system/extension-apiserver-authentication contains the CAs of client certificates, and the CAs and
headers of the front proxy. The API server reviews bearer tokens.
Source: apiserver pkg/server/options/authentication.go DelegatingAuthenticationOptions (1.36).
"""

import json
from collections.abc import Mapping

from cryptography import x509

from sampan.server.authentication.authenticator import Authenticator, TokenAuthenticator
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.authentication.client_certificate import ClientCertificateAuthenticator
from sampan.server.authentication.request_header import RequestHeaderAuthenticator, RequestHeaders
from sampan.server.authentication.union import UnionAuthenticator
from sampan.server.pki.client_verifier import ClientCertificateVerifier, read_authorities
from sampan.server.request import Request, UserInfo

CONFIG_MAP_NAMESPACE = "kube-system"
CONFIG_MAP_NAME = "extension-apiserver-authentication"


class DelegatedAuthenticator:
    """Authenticates with the data of the ConfigMap. Call `replace` when it changes. Raises `ValueError` for invalid
    data.
    """

    def __init__(self, data: Mapping[str, str], tokens: TokenAuthenticator) -> None:
        self._tokens = BearerTokenAuthenticator([tokens])
        self._data: Mapping[str, str] = {}
        self._inner = UnionAuthenticator([])
        self.replace(data)

    def replace(self, data: Mapping[str, str]) -> None:
        """Replace the trusted CAs and headers with those in the data. Raises `ValueError` and changes nothing if the
        data is invalid.
        """
        if data == self._data:
            return
        known: list[Authenticator] = []
        proxies = _authorities(data, "requestheader-client-ca-file")
        if proxies:
            known.append(RequestHeaderAuthenticator(ClientCertificateVerifier(proxies), request_headers(data)))
        clients = _authorities(data, "client-ca-file")
        if clients:
            known.append(ClientCertificateAuthenticator(ClientCertificateVerifier(clients)))
        self._inner = UnionAuthenticator([*known, self._tokens])
        self._data = dict(data)

    def recall(self, request: Request) -> UserInfo | None:
        """Return the cached user if it is still valid, else None."""
        return self._inner.recall(request)

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Return the user, or None if the request has no credentials of this authenticator's kind."""
        return await self._inner.authenticate(request)


def request_headers(data: Mapping[str, str]) -> RequestHeaders:
    """Return the headers in which the front proxy names the user. Raises `ValueError`."""
    return RequestHeaders(
        _names(data, "requestheader-username-headers"),
        _names(data, "requestheader-uid-headers"),
        _names(data, "requestheader-group-headers"),
        _names(data, "requestheader-extra-headers-prefix"),
        _texts(data, "requestheader-allowed-names"),
    )


def _authorities(data: Mapping[str, str], key: str) -> list[x509.Certificate]:
    pem = data.get(key, "")
    return read_authorities(pem.encode()) if pem.strip() else []


def _names(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in _texts(data, key))


def _texts(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    found = json.loads(data.get(key) or "[]")
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"{key} must be a JSON list of strings")
    return tuple(found)
