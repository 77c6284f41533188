"""Kubeconfig of a webhook that the server's settings name: its address and the credentials for it.

The current context applies: its cluster is the webhook, its user is the server.
Source: apiserver pkg/util/webhook/webhook.go LoadKubeconfig (1.36).
"""

import base64
from pathlib import Path
from typing import Any

from sampan.core.addresses.url import split_url
from sampan.registry.webhook.credentials import NO_CREDENTIALS, ClientCredentials, credentials_of
from sampan.registry.webhook.target import WebhookTarget, clean_path
from sampan.wire import yaml
from sampan.wire.json import DecodeError


def read_webhook_kubeconfig(file: Path) -> tuple[WebhookTarget, ClientCredentials]:
    """Read a kubeconfig. Raises `OSError`, and `ValueError` if it names no server.

    A server of `http://` gets no credentials, as with every Kubernetes client.
    """
    try:
        config = yaml.decode(file.read_bytes())
    except DecodeError as error:
        raise ValueError(f"{file}: {error}") from None
    if not isinstance(config, dict):
        raise ValueError(f"{file} is not a kubeconfig")
    try:
        context = _current(config)
        cluster = _named(config, "cluster", context)
        credentials = credentials_of(_named(config, "user", context) if context.get("user") else {}, file.parent)
        url = split_url(cluster.get("server") or "")
        secure = url.scheme == "https"
        port = url.port or (443 if secure else 80)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{file}: invalid configuration: {error}") from None
    if url.scheme not in ("https", "http") or not url.hostname:
        raise ValueError(f"{file}: server must be an http or https URL, not {cluster.get('server')!r}")
    path = clean_path(url.path) + (f"?{url.query}" if url.query else "")
    target = WebhookTarget(url.hostname, port, path, _ca_pem(cluster, file.parent), secure=secure, is_setting=True)
    return target, credentials if secure else NO_CREDENTIALS


def _current(config: dict[str, Any]) -> dict[str, Any]:
    contexts = {each["name"]: each.get("context") or {} for each in config.get("contexts") or ()}
    current = config.get("current-context") or ""
    if not current:
        raise ValueError("no context chosen")
    if current not in contexts:
        raise ValueError(f"context was not found for specified context: {current}")
    context: dict[str, Any] = contexts[current]
    return context


def _named(config: dict[str, Any], kind: str, context: dict[str, Any]) -> dict[str, Any]:
    """Return the cluster or the user that the context names."""
    name = context.get(kind) or ""
    for each in config.get(f"{kind}s") or ():
        if each["name"] == name:
            found: dict[str, Any] = each.get(kind) or {}
            return found
    raise ValueError(f'{kind} "{name}" does not exist')


def _ca_pem(cluster: dict[str, Any], directory: Path) -> str:
    data = cluster.get("certificate-authority-data")
    if data:
        return base64.b64decode(data).decode("ascii", "ignore")
    file = cluster.get("certificate-authority")
    return (directory / file).read_text() if file else ""
