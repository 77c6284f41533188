"""Containers of a Pod, as far as the node agent reads them.

Source: api core/v1/types.go `Container`, `Probe`, `Lifecycle`, `SecurityContext` (1.36).
"""

import msgspec

from sampan.node.views.volume_sources import FieldPath, ResourcePath


class KeyRef(msgspec.Struct, rename="camel", gc=False):
    """Key of a ConfigMap or a Secret."""

    name: str = ""
    key: str = ""
    optional: bool = False


class EnvVarSource(msgspec.Struct, rename="camel", gc=False):
    """Source of a variable's value. Exactly one field is set."""

    field_ref: FieldPath | None = None
    resource_field_ref: ResourcePath | None = None
    config_map_key_ref: KeyRef | None = None
    secret_key_ref: KeyRef | None = None


class EnvVar(msgspec.Struct, rename="camel", gc=False):
    """Environment variable."""

    name: str = ""
    value: str = ""
    value_from: EnvVarSource | None = None


class LocalObjectReference(msgspec.Struct, rename="camel", gc=False):
    """Reference to a ConfigMap or a Secret."""

    name: str = ""
    optional: bool = False


class EnvFrom(msgspec.Struct, rename="camel", gc=False):
    """Variables from all keys of a ConfigMap or a Secret."""

    prefix: str = ""
    config_map_ref: LocalObjectReference | None = None
    secret_ref: LocalObjectReference | None = None


class VolumeMount(msgspec.Struct, rename="camel", gc=False):
    """Mount of a volume, or of a part of it, in a container."""

    name: str = ""
    mount_path: str = ""
    read_only: bool = False
    sub_path: str = ""
    sub_path_expr: str = ""
    mount_propagation: str = ""
    """None, HostToContainer or Bidirectional."""


class VolumeDevice(msgspec.Struct, rename="camel", gc=False):
    """Block volume as a device of a container."""

    name: str = ""
    device_path: str = ""


class ContainerPort(msgspec.Struct, rename="camel", gc=False):
    """Port of a container. The name is optional."""

    name: str = ""
    container_port: int = 0
    protocol: str = "TCP"
    host_port: int = 0
    """0: the port is not open on the node."""
    host_ip: str = msgspec.field(name="hostIP", default="")


class HttpHeader(msgspec.Struct, gc=False):
    """Header of an HTTP request."""

    name: str = ""
    value: str = ""


class ExecAction(msgspec.Struct, gc=False):
    """Command to run in the container."""

    command: list[str] = []


class HttpGetAction(msgspec.Struct, rename="camel", gc=False):
    """HTTP request to the container."""

    path: str = ""
    port: int | str = 0
    host: str = ""
    scheme: str = "HTTP"
    http_headers: list[HttpHeader] = []


class TcpSocketAction(msgspec.Struct, rename="camel", gc=False):
    """TCP connection to the container."""

    port: int | str = 0
    host: str = ""


class GrpcAction(msgspec.Struct, rename="camel", gc=False):
    """Call of grpc.health.v1.Health/Check."""

    port: int = 0
    service: str = ""


class SleepAction(msgspec.Struct, rename="camel", gc=False):
    """Lifecycle handler that waits. `seconds` may be 0."""

    seconds: int = 0


class Handler(msgspec.Struct, rename="camel", gc=False):
    """Action of a probe or a hook. Exactly one field is set."""

    exec: ExecAction | None = None
    http_get: HttpGetAction | None = None
    tcp_socket: TcpSocketAction | None = None
    grpc: GrpcAction | None = None
    sleep: SleepAction | None = None


class Probe(Handler, rename="camel", gc=False):
    """Periodic check of a container."""

    initial_delay_seconds: int = 0
    timeout_seconds: int = 1
    period_seconds: int = 10
    success_threshold: int = 1
    failure_threshold: int = 3
    termination_grace_period_seconds: int | None = None


class Lifecycle(msgspec.Struct, rename="camel", gc=False):
    """Hooks after a container's start and before its end."""

    post_start: Handler | None = None
    pre_stop: Handler | None = None
    stop_signal: str = ""


class ResourceRequirements(msgspec.Struct, rename="camel", gc=False):
    """Requests and limits: quantities by resource name."""

    requests: dict[str, str | int | float] = {}
    limits: dict[str, str | int | float] = {}


class ResizePolicy(msgspec.Struct, rename="camel", gc=False):
    """Effect of a change of a resource on a running container."""

    resource_name: str = ""
    restart_policy: str = "NotRequired"
    """NotRequired or RestartContainer."""


class Capabilities(msgspec.Struct, gc=False):
    """Changes of a container's default capabilities. Names may omit the prefix `CAP_`; `ALL` means every capability."""

    add: list[str] = []
    drop: list[str] = []


class SeccompProfile(msgspec.Struct, rename="camel", gc=False):
    """Filter of system calls."""

    type: str = "Unconfined"
    """RuntimeDefault, Localhost or Unconfined."""
    localhost_profile: str = ""


class Sysctl(msgspec.Struct, gc=False):
    """Kernel parameter of a Pod's namespaces."""

    name: str = ""
    value: str = ""


class SecurityContext(msgspec.Struct, rename="camel", gc=False):
    """Security settings of a container or of a whole Pod."""

    run_as_user: int | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    read_only_root_filesystem: bool = False
    fs_group: int | None = None
    """Only for a Pod: the group that owns its volumes."""
    fs_group_change_policy: str = "Always"
    """Only for a Pod: Always or OnRootMismatch."""
    supplemental_groups: list[int] = []
    """Only for a Pod: more groups of its containers' processes."""
    sysctls: list[Sysctl] = []
    """Only for a Pod: kernel parameters of its namespaces."""
    seccomp_profile: SeccompProfile | None = None
    privileged: bool = False
    """Only for a container, like the following fields."""
    allow_privilege_escalation: bool = True
    capabilities: Capabilities = msgspec.field(default_factory=Capabilities)
    proc_mount: str = ""


class ExitCodes(msgspec.Struct, rename="camel", gc=False):
    """Condition on the exit code of a container."""

    operator: str = "In"
    """In or NotIn."""
    values: list[int] = []


class RestartRule(msgspec.Struct, rename="camel", gc=False):
    """Action for some exit codes. It takes precedence over the restart policy."""

    action: str = "Restart"
    exit_codes: ExitCodes | None = None


class Container(msgspec.Struct, rename="camel"):
    """Container, init container or ephemeral container in a Pod's spec."""

    name: str = ""
    image: str = ""
    image_pull_policy: str = ""
    restart_policy: str = ""
    """Always makes an init container a sidecar. For any other container it replaces the Pod's policy."""
    restart_policy_rules: list[RestartRule] = []
    command: list[str] = []
    args: list[str] = []
    working_dir: str = ""
    ports: list[ContainerPort] = []
    env: list[EnvVar] = []
    env_from: list[EnvFrom] = []
    resources: ResourceRequirements = msgspec.field(default_factory=ResourceRequirements)
    resize_policy: list[ResizePolicy] = []
    volume_mounts: list[VolumeMount] = []
    volume_devices: list[VolumeDevice] = []
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle = msgspec.field(default_factory=Lifecycle)
    termination_message_path: str = ""
    termination_message_policy: str = "File"
    security_context: SecurityContext = msgspec.field(default_factory=SecurityContext)
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False
    target_container_name: str = ""
    """For an ephemeral container: the container whose processes it can see."""

    @property
    def is_sidecar(self) -> bool:
        """True if this init container keeps running next to the main containers."""
        return self.restart_policy == "Always"
