"""Credentials of the server for webhooks: a client certificate or a token, by the webhook's host.

The admission plug-ins read them from a kubeconfig file whose users are named after hosts.
Source: apiserver pkg/util/webhook/authentication.go (1.36).
"""

import base64
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sampan.core.operating_system.memory_file import memory_file
from sampan.core.tls.trust import client_context


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """Credentials for a webhook. `authorization` is the header's value, "" for none."""

    authorization: str = ""
    certificate_pem: str = ""
    """Client certificate followed by its key."""

    def tls(self, ca_pem: str) -> ssl.SSLContext:
        """Return a TLS context that trusts `ca_pem` ("" = the system's CAs) and presents the client certificate."""
        context = client_context(ca_pem or None)
        if self.certificate_pem:
            with memory_file(self.certificate_pem.encode()) as file:
                context.load_cert_chain(file)
        return context


NO_CREDENTIALS = ClientCredentials()


class WebhookCredentials:
    """Users of a kubeconfig, found by host.

    The first match wins: `host:port`, `*.domain:port`, for port 443 the same without the port, then `*`, then the user
    of the current context.
    """

    def __init__(self, kubeconfig: Mapping[str, Any], directory: Path) -> None:
        """Read the users. `directory` is the base of relative paths. Raises `OSError` if a file cannot be read."""
        self._by_name = {
            entry["name"]: credentials_of(entry.get("user") or {}, directory) for entry in kubeconfig.get("users") or ()
        }
        contexts = {entry["name"]: entry.get("context") or {} for entry in kubeconfig.get("contexts") or ()}
        current = contexts.get(kubeconfig.get("current-context", ""), {})
        self._default = self._by_name.get(current.get("user", ""), NO_CREDENTIALS)

    def of(self, host: str, port: int) -> ClientCredentials:
        """Return the credentials of the first user whose name fits (`host:port`, `*.domain`), or the default ones."""
        for name in _names(host, port):
            found = self._by_name.get(name)
            if found is not None:
                return found
        return self._default


def _names(host: str, port: int) -> list[str]:
    parts = host.split(".")
    hosts = [host, *(".".join(["*", *parts[index:]]) for index in range(1, len(parts)))]
    return [*(f"{name}:{port}" for name in hosts), *(hosts if port == 443 else ()), "*"]


def credentials_of(user: Mapping[str, Any], directory: Path) -> ClientCredentials:
    """Return the credentials of a kubeconfig's user. Raises `OSError` if a file cannot be read."""
    authorization = ""
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}".encode()
        authorization = f"Basic {base64.b64encode(pair).decode()}"
    elif user.get("token"):
        authorization = f"Bearer {user['token']}"
    elif user.get("tokenFile"):
        authorization = f"Bearer {(directory / user['tokenFile']).read_text().strip()}"
    parts = [_pem(user, name, directory) for name in ("client-certificate", "client-key")]
    return ClientCredentials(authorization, "\n".join(filter(None, parts)))


def _pem(user: Mapping[str, Any], name: str, directory: Path) -> str:
    data = user.get(f"{name}-data")
    if data:
        return base64.b64decode(data).decode()
    return (directory / user[name]).read_text() if user.get(name) else ""
