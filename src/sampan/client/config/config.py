"""`Config`: all that is needed to reach a server and be known there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sampan.client.identity import Impersonation
from sampan.http.tls import TlsOptions

InteractiveMode = Literal["Never", "IfAvailable", "Always"]


@dataclass(frozen=True, slots=True)
class ExecConfig:
    """A program that prints credentials (an exec credential plugin).

    Source: client-go tools/clientcmd/api/types.go, ExecConfig (1.36).
    """

    api_version: str
    """`client.authentication.k8s.io/v1` or `/v1beta1`."""
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Added to the environment that the program inherits."""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: InteractiveMode = "IfAvailable"


@dataclass(frozen=True, slots=True)
class Config:
    """A server, how to trust it, and who asks. Secrets do not show in its `repr`."""

    server: str
    """URL; its path stands before every target."""
    namespace: str = "default"
    """Where namespaced things are looked for when nobody says where."""
    tls: TlsOptions = field(default_factory=TlsOptions)
    token: str = field(default="", repr=False)
    token_file: str = ""
    """Read again and again; goes before `token`, which serves while the file cannot be read."""
    username: str = ""
    password: str = field(default="", repr=False)
    exec: ExecConfig | None = None
    """Asked only when there is no token, no password and no client certificate."""
    exec_cluster_config: Any = field(default=None, repr=False)
    """The cluster's extension `client.authentication.k8s.io/exec`, for a program that wants cluster information."""
    impersonation: Impersonation = field(default_factory=Impersonation)
    proxy_url: str = field(default="", repr=False)
    """`http://`, `https://` or `socks5://`; empty: none."""
    compression: bool = True
    """Ask for compressed answers."""
    user_agent: str = ""
    """Empty: `default_user_agent()`."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The environment that the exec program inherits."""
    context: str = ""
    """The context that this comes from; empty when it comes from elsewhere."""
