"""`connect`: a client for the server that kubectl would use here.

async with connect() as client:
    pods = await client.resource_for("pods")
"""

from collections.abc import Mapping
from pathlib import Path

from sampan.client.client import Client
from sampan.client.config import ConfigOverrides, load_config
from sampan.client.rest_client import REQUEST_TIMEOUT_S


def connect(
    path: str | Path | None = None,
    *,
    context: str = "",
    namespace: str = "",
    field_manager: str = "",
    request_timeout_s: float = REQUEST_TIMEOUT_S,
    environ: Mapping[str, str] | None = None,
) -> Client:
    """Return a client for the configuration that `load_config` finds. Connections are made on demand.

    `path`, `context` and `namespace` override KUBECONFIG, the file's current context and its namespace. Raises
    `ConfigError`.
    """
    overrides = ConfigOverrides(context=context, namespace=namespace)
    config = load_config(path, overrides=overrides, environ=environ)
    return Client.from_config(config, field_manager=field_manager, request_timeout_s=request_timeout_s)
