"""`PartialObjectMetadata`: objects reduced to their metadata. Source: apimachinery meta/v1/types.go (1.36)."""

from typing import Final, NoReturn

import msgspec

from sampan.resource import ObjectMeta, ObjectType, ResourceInfo

ACCEPT: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
ACCEPT_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


class PartialObjectMetadata(msgspec.Struct, rename="camel", omit_defaults=True):
    """Object without the fields that its kind adds to the metadata."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)


_decoder: Final = msgspec.json.Decoder(PartialObjectMetadata)


def partial_metadata(info: ResourceInfo) -> ObjectType[PartialObjectMetadata]:
    """Return the type of a resource's objects, reduced to metadata. `encode` raises `ValueError`: use patches."""
    return ObjectType(info, _decoder.decode, _refuse)


def _refuse(_: PartialObjectMetadata) -> NoReturn:
    raise ValueError("PartialObjectMetadata cannot be created or replaced; use a patch")
