from dataclasses import dataclass, field

__all__ = [
    "Config",
    "ConfigOverrides",
    "ExecConfig",
    "in_cluster_config",
    "load_config",
]

@dataclass(frozen=True, slots=True)
class Config:
    server: str
    namespace: str = 'default'
    tls: TlsOptions = field(default_factory=TlsOptions)
    token: str = field(default='', repr=False)
    token_file: str = ''
    username: str = ''
    password: str = field(default='', repr=False)
    exec: ExecConfig | None = None
    exec_cluster_config: Any = field(default=None, repr=False)
    impersonation: Impersonation = field(default_factory=Impersonation)
    proxy_url: str = field(default='', repr=False)
    compression: bool = True
    user_agent: str = ''
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    context: str = ''

@dataclass(frozen=True, slots=True)
class ConfigOverrides:
    context: str = ''
    cluster: str = ''
    user: str = ''
    namespace: str = ''
    server: str = ''
    certificate_authority: str = ''
    insecure_skip_tls_verify: bool = False
    token: str = field(default='', repr=False)
    impersonation: Impersonation = field(default_factory=Impersonation)

@dataclass(frozen=True, slots=True)
class ExecConfig:
    api_version: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    install_hint: str = ''
    provide_cluster_info: bool = False
    interactive_mode: InteractiveMode = 'IfAvailable'

def in_cluster_config(environ: Mapping[str, str], mounted: Path=SERVICE_ACCOUNT) -> Config:
    ...

def load_config(path: str | Path | None=None, *, overrides: ConfigOverrides | None=None, environ: Mapping[str, str] | None=None, mounted: Path=SERVICE_ACCOUNT) -> Config:
    ...
