"""`connect`: a client for the server that kubectl would ask here.

async with connect() as client:
    pods = await client.resource_for("pods")
"""

from collections.abc import Mapping
from pathlib import Path

from sampan.client.client import Client
from sampan.client.config import ConfigOverrides, load_config


def connect(
    path: str | Path | None = None,
    *,
    context: str = "",
    namespace: str = "",
    field_manager: str = "",
    environ: Mapping[str, str] | None = None,
) -> Client:
    """A client, as `load_config` and `Client.from_config` make it; connections are made when they are needed.

    `path`, `context`, `namespace` go before what KUBECONFIG, the file and the context say. Raises `ConfigError`.
    """
    overrides = ConfigOverrides(context=context, namespace=namespace)
    return Client.from_config(load_config(path, overrides=overrides, environ=environ), field_manager=field_manager)
