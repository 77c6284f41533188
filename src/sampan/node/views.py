"""What a node agent reads of Pods. Read only."""

from typing import Any

import msgspec

from sampan.loops.resources import PODS
from sampan.resource import ObjectMeta, ObjectType


class ExitCodes(msgspec.Struct, rename="camel", gc=False):
    """Some exit codes, or all but these."""

    operator: str = "In"
    """In or NotIn."""
    values: list[int] = []


class RestartRule(msgspec.Struct, rename="camel", gc=False):
    """What becomes of a container that has ended with one of these codes, whatever its policy is."""

    action: str = "Restart"
    exit_codes: ExitCodes | None = None


class Container(msgspec.Struct, rename="camel", gc=False):
    """A container as it is wanted."""

    name: str = ""
    image: str = ""
    image_pull_policy: str = ""
    restart_policy: str = ""
    """Of an init container: Always makes it a sidecar. Of another one: its own instead of the Pod's."""
    restart_policy_rules: list[RestartRule] = []

    @property
    def is_sidecar(self) -> bool:
        """Whether it is an init container that runs on beside the others."""
        return self.restart_policy == "Always"


class ReadinessGate(msgspec.Struct, rename="camel", gc=False):
    """A condition that others must set before the Pod is ready."""

    condition_type: str = ""


class PodSpec(msgspec.Struct, rename="camel", gc=False):
    """What is wanted of a Pod."""

    node_name: str = ""
    restart_policy: str = "Always"
    host_network: bool = False
    containers: list[Container] = []
    init_containers: list[Container] = []
    readiness_gates: list[ReadinessGate] = []
    ephemeral_containers: list[Container] = []
    active_deadline_seconds: int | None = None


class Pod(msgspec.Struct, rename="camel"):
    """A Pod, seen by the agent of its node."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: dict[str, Any] = msgspec.field(default_factory=dict)
    """As it travels: the agent compares it with what it would write."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def has_ended(self) -> bool:
        """Whether its containers have ended for good."""
        return self.status.get("phase") in ("Succeeded", "Failed")


def _read_only(obj: Pod) -> bytes:
    raise ValueError("a view cannot be written: patch the object")


NODE_POD_VIEW: ObjectType[Pod] = ObjectType(PODS, msgspec.json.Decoder(Pod).decode, _read_only)
