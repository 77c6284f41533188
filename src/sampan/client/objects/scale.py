"""`Scale`: desired and current number of replicas. Source: autoscaling/v1 (1.36)."""

from dataclasses import replace
from typing import Final

import msgspec

from sampan.resource import ObjectMeta, ObjectType, ResourceInfo


class ScaleSpec(msgspec.Struct, rename="camel", omit_defaults=True):
    """Desired number of replicas."""

    replicas: int = 0


class ScaleStatus(msgspec.Struct, rename="camel", omit_defaults=True):
    """Present number of replicas. `selector` selects the Pods."""

    replicas: int = 0
    selector: str = ""


class Scale(msgspec.Struct, rename="camel", omit_defaults=True):
    """The `scale` subresource."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: ScaleSpec = msgspec.field(default_factory=ScaleSpec)
    status: ScaleStatus = msgspec.field(default_factory=ScaleStatus)


_decoder: Final = msgspec.json.Decoder(Scale)


def scale_of(info: ResourceInfo) -> ObjectType[Scale]:
    """Return the type of a resource's `scale` subresource."""
    return ObjectType(replace(info, kind="Scale"), _decoder.decode, _encode)


def _encode(scale: Scale) -> bytes:
    return msgspec.json.encode(
        {
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": scale.metadata,
            "spec": {"replicas": scale.spec.replicas},
        }
    )
