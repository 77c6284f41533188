"""The whole of a Pod's spec, as far as containers that really run need it: only for runtimes that take a config.

Source: api core/v1/types.go (1.36).
"""

from typing import Any

import msgspec

from sampan.loops.resources import PODS
from sampan.node.views import Pod
from sampan.node.volumes.sources import FieldPath, ResourcePath, Volume
from sampan.resource import ObjectType


class KeyRef(msgspec.Struct, rename="camel", gc=False):
    """A key of a ConfigMap or a Secret."""

    name: str = ""
    key: str = ""
    optional: bool = False


class EnvVarSource(msgspec.Struct, rename="camel", gc=False):
    """Where a value comes from."""

    field_ref: FieldPath | None = None
    resource_field_ref: ResourcePath | None = None
    config_map_key_ref: KeyRef | None = None
    secret_key_ref: KeyRef | None = None


class EnvVar(msgspec.Struct, rename="camel", gc=False):
    """A variable."""

    name: str = ""
    value: str = ""
    value_from: EnvVarSource | None = None


class ObjectRef(msgspec.Struct, rename="camel", gc=False):
    """A ConfigMap or a Secret."""

    name: str = ""
    optional: bool = False


class EnvFrom(msgspec.Struct, rename="camel", gc=False):
    """All keys of an object, as variables."""

    prefix: str = ""
    config_map_ref: ObjectRef | None = None
    secret_ref: ObjectRef | None = None


class VolumeMount(msgspec.Struct, rename="camel", gc=False):
    """Where a container sees a volume, or a part of it."""

    name: str = ""
    mount_path: str = ""
    read_only: bool = False
    sub_path: str = ""
    sub_path_expr: str = ""


class ContainerPort(msgspec.Struct, rename="camel", gc=False):
    """A port that has a name, perhaps."""

    name: str = ""
    container_port: int = 0


class Header(msgspec.Struct, gc=False):
    """A header of an HTTP request."""

    name: str = ""
    value: str = ""


class ExecAction(msgspec.Struct, gc=False):
    """A command in the container."""

    command: list[str] = []


class HttpGetAction(msgspec.Struct, rename="camel", gc=False):
    """A request to a container."""

    path: str = ""
    port: int | str = 0
    host: str = ""
    scheme: str = "HTTP"
    http_headers: list[Header] = []


class TcpSocketAction(msgspec.Struct, rename="camel", gc=False):
    """A connection to a container."""

    port: int | str = 0
    host: str = ""


class GrpcAction(msgspec.Struct, rename="camel", gc=False):
    """A call of grpc.health.v1.Health/Check."""

    port: int = 0
    service: str = ""


class SleepAction(msgspec.Struct, rename="camel", gc=False):
    """A pause."""

    seconds: int = 0


class Handler(msgspec.Struct, rename="camel", gc=False):
    """What a probe or a hook does: one of these."""

    exec: ExecAction | None = None
    http_get: HttpGetAction | None = None
    tcp_socket: TcpSocketAction | None = None
    grpc: GrpcAction | None = None
    sleep: SleepAction | None = None


class Probe(Handler, rename="camel", gc=False):
    """How to find out how a container is."""

    initial_delay_seconds: int = 0
    timeout_seconds: int = 1
    period_seconds: int = 10
    success_threshold: int = 1
    failure_threshold: int = 3
    termination_grace_period_seconds: int | None = None


class Lifecycle(msgspec.Struct, rename="camel", gc=False):
    """What is done after a container's start and before its end."""

    post_start: Handler | None = None
    pre_stop: Handler | None = None
    stop_signal: str = ""


class Resources(msgspec.Struct, rename="camel", gc=False):
    """Requests and limits: quantities by the resource's name."""

    requests: dict[str, str | int | float] = {}
    limits: dict[str, str | int | float] = {}


class SecurityContext(msgspec.Struct, rename="camel", gc=False):
    """As whom a container runs."""

    run_as_user: int | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    read_only_root_filesystem: bool = False
    fs_group: int | None = None
    """Of a Pod: the group that its volumes belong to."""
    supplemental_groups: list[int] = []
    """Of a Pod: further groups of its containers' processes."""


class ContainerDetails(msgspec.Struct, rename="camel"):
    """A container."""

    name: str = ""
    image: str = ""
    command: list[str] = []
    args: list[str] = []
    working_dir: str = ""
    ports: list[ContainerPort] = []
    env: list[EnvVar] = []
    env_from: list[EnvFrom] = []
    resources: Resources = msgspec.field(default_factory=Resources)
    volume_mounts: list[VolumeMount] = []
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
    """Of an ephemeral container."""


class SpecDetails(msgspec.Struct, rename="camel"):
    """A Pod's spec."""

    service_account_name: str = ""
    hostname: str = ""
    subdomain: str = ""
    enable_service_links: bool = True
    termination_grace_period_seconds: int | None = None
    containers: list[ContainerDetails] = []
    init_containers: list[ContainerDetails] = []
    ephemeral_containers: list[ContainerDetails] = []
    volumes: list[Volume] = []
    security_context: SecurityContext = msgspec.field(default_factory=SecurityContext)

    def container(self, name: str) -> ContainerDetails:
        """The container of a name, of whatever sort. Raises `KeyError`."""
        for each in (*self.containers, *self.init_containers, *self.ephemeral_containers):
            if each.name == name:
                return each
        raise KeyError(name)


class DetailedPod(Pod):
    """A Pod with all of its spec."""

    details: SpecDetails = msgspec.field(default_factory=SpecDetails)


class _WithSpec(msgspec.Struct):
    spec: SpecDetails


_pods = msgspec.json.Decoder(DetailedPod)
_specs = msgspec.json.Decoder(_WithSpec)


def decode_detailed(raw: bytes) -> DetailedPod:
    """Read a Pod. Raises msgspec's `ValueError`."""
    pod = _pods.decode(raw)
    pod.details = _specs.decode(raw).spec
    return pod


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written: patch the object")


DETAILED_POD_VIEW: ObjectType[DetailedPod] = ObjectType(PODS, decode_detailed, _read_only)
