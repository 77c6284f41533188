"""Configuration of a client in a Pod, as the kubelet provides it. Source: client-go rest/config.go (1.36)."""

from collections.abc import Mapping
from pathlib import Path

from sampan.client.config.config import Config
from sampan.client.config.proxy import proxy_from_environment
from sampan.client.errors import ConfigError
from sampan.http.client.address import ServerAddress
from sampan.http.client.tls import TlsOptions

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def in_cluster_possible(environ: Mapping[str, str], mounted: Path = SERVICE_ACCOUNT) -> bool:
    """Return True if the process seems to run in a Pod: KUBERNETES_SERVICE_* are set and a token is mounted."""
    named = environ.get("KUBERNETES_SERVICE_HOST") and environ.get("KUBERNETES_SERVICE_PORT")
    return bool(named) and (mounted / "token").is_file()


def in_cluster_config(environ: Mapping[str, str], mounted: Path = SERVICE_ACCOUNT) -> Config:
    """Return the configuration for the Pod of this process. Raises `ConfigError` outside of a Pod."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port:
        raise ConfigError(
            "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set in the environment"
        )
    token, authority = mounted / "token", mounted / "ca.crt"
    if not token.is_file():
        raise ConfigError(f"cannot read service account token {token}")
    try:
        address = ServerAddress("https", host, int(port))
    except ValueError as error:
        raise ConfigError(f"KUBERNETES_SERVICE_PORT: {port!r} is not a port number") from error
    return Config(
        str(address),
        namespace=_namespace(environ, mounted),
        tls=TlsOptions(ca_file=str(authority) if authority.is_file() else ""),
        token_file=str(token),
        proxy_url=proxy_from_environment(environ, address),
        environ=environ,
    )


def _namespace(environ: Mapping[str, str], mounted: Path) -> str:
    try:
        text = (mounted / "namespace").read_text("utf-8").strip()
    except (OSError, ValueError):
        text = ""
    return environ.get("POD_NAMESPACE") or text or "default"
