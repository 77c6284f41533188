"""`connect`: a client for the server that kubectl would ask here.

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
    """A client, as `load_config` and `Client.from_config` make it; connections are made when they are needed.

    `path`, `context`, `namespace` go before what KUBECONFIG, the file and the context say. Raises `ConfigError`.
    """
    overrides = ConfigOverrides(context=context, namespace=namespace)
    config = load_config(path, overrides=overrides, environ=environ)
    return Client.from_config(config, field_manager=field_manager, request_timeout_s=request_timeout_s)
