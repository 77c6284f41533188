"""Parts of Pods that a node agent reads. Views are read only: changes are sent as patches."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from sampan.component_base.resources import PODS
from sampan.kinds import core_v1
from sampan.node.views.container import Container, ResourceRequirements, SecurityContext
from sampan.node.views.volume_sources import Volume
from sampan.resource import ObjectMeta, ObjectType
from sampan.resource.view import view_decoder


class ReadinessGate(msgspec.Struct, rename="camel", gc=False):
    """Condition that another controller must set before the Pod is ready."""

    condition_type: str = ""


class HostAlias(msgspec.Struct, gc=False):
    """Line of /etc/hosts."""

    ip: str = ""
    hostnames: list[str] = []


class LocalReference(msgspec.Struct, gc=False):
    """Object in the Pod's namespace."""

    name: str = ""


class DnsOption(msgspec.Struct, gc=False):
    """Option of resolv.conf: `name` or `name:value`."""

    name: str = ""
    value: str | None = None


class DnsConfig(msgspec.Struct, gc=False):
    """Additions to a Pod's resolv.conf."""

    nameservers: list[str] = []
    searches: list[str] = []
    options: list[DnsOption] = []


class PodSpec(msgspec.Struct, rename="camel"):
    """Fields of `spec` that the agent of a node reads. Other fields are not decoded."""

    node_name: str = ""
    priority: int | None = None
    restart_policy: str = "Always"
    host_network: bool = False
    host_pid: bool = msgspec.field(name="hostPID", default=False)
    host_ipc: bool = msgspec.field(name="hostIPC", default=False)
    host_users: bool | None = None
    share_process_namespace: bool = False
    containers: list[Container] = []
    init_containers: list[Container] = []
    readiness_gates: list[ReadinessGate] = []
    ephemeral_containers: list[Container] = []
    active_deadline_seconds: int | None = None
    service_account_name: str = ""
    hostname: str = ""
    subdomain: str = ""
    set_hostname_as_fqdn: bool = msgspec.field(name="setHostnameAsFQDN", default=False)
    host_aliases: list[HostAlias] = []
    dns_policy: str = "ClusterFirst"
    dns_config: DnsConfig = msgspec.field(default_factory=DnsConfig)
    image_pull_secrets: list[LocalReference] = []
    runtime_class_name: str = ""
    resources: ResourceRequirements = msgspec.field(default_factory=ResourceRequirements)
    """Requests and limits of the whole Pod. They replace the sums over its containers."""
    overhead: dict[str, str | int | float] = {}
    """Resources of the sandbox itself, from the RuntimeClass."""
    enable_service_links: bool = True
    termination_grace_period_seconds: int | None = None
    volumes: list[Volume] = []
    security_context: SecurityContext = msgspec.field(default_factory=SecurityContext)

    def container(self, name: str) -> Container:
        """Return the container, init container or ephemeral container of this name. Raises `KeyError`."""
        for each in (*self.containers, *self.init_containers, *self.ephemeral_containers):
            if each.name == name:
                return each
        raise KeyError(name)


class Pod(msgspec.Struct, rename="camel"):
    """Pod that is bound to a node."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: dict[str, Any] = msgspec.field(default_factory=dict)
    """Status as JSON, because the agent compares it with the status that it would write."""

    @property
    def reported(self) -> core_v1.PodStatus:
        """The status, with the types of its fields for type checkers."""
        # It is decoded as a dict, because decoding the type would drop the fields that the type does not have.
        return cast("core_v1.PodStatus", self.status)

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def has_ended(self) -> bool:
        """True if the Pod's containers have ended and will not run again."""
        return self.reported.get("phase") in ("Succeeded", "Failed")


def _read_only(obj: Pod) -> bytes:
    raise ValueError("a view cannot be written: patch the object")


NODE_POD_VIEW: ObjectType[Pod] = ObjectType(PODS, view_decoder(Pod), _read_only)
