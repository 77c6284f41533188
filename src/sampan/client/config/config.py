"""`Config`: address of a server and the credentials for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sampan.client.identity import Impersonation
from sampan.http.client.tls import TlsOptions

InteractiveMode = Literal["Never", "IfAvailable", "Always"]


@dataclass(frozen=True, slots=True)
class ExecConfig:
    """Program that prints credentials (an exec credential plugin).

    Source: client-go tools/clientcmd/api/types.go, ExecConfig (1.36).
    """

    api_version: str
    """`client.authentication.k8s.io/v1` or `/v1beta1`."""
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables added to the inherited environment."""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: InteractiveMode = "IfAvailable"


@dataclass(frozen=True, slots=True)
class Config:
    """Server, trust and identity of a client. Its `repr` contains no secrets."""

    server: str
    """URL of the server. Its path is prepended to every target."""
    namespace: str = "default"
    """Default namespace."""
    tls: TlsOptions = field(default_factory=TlsOptions)
    token: str = field(default="", repr=False)
    token_file: str = ""
    """File that is read again regularly. Takes precedence over `token`, which is used while the file cannot be read."""
    username: str = ""
    password: str = field(default="", repr=False)
    exec: ExecConfig | None = None
    """Program that is run only without a token, a password and a client certificate."""
    exec_cluster_config: Any = field(default=None, repr=False)
    """Extension `client.authentication.k8s.io/exec` of the cluster, for programs that request cluster information."""
    impersonation: Impersonation = field(default_factory=Impersonation)
    proxy_url: str = field(default="", repr=False)
    """URL of the proxy, `http://`, `https://` or `socks5://`; empty: none."""
    compression: bool = True
    """True to accept compressed responses."""
    user_agent: str = ""
    """User agent; empty: `default_user_agent()`."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Environment that the exec program inherits."""
    context: str = ""
    """Name of the kubeconfig context; empty if the configuration has another source."""
