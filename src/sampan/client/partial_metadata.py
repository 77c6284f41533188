"""`PartialObjectMetadata`: objects of which only the metadata travels. Source: apimachinery meta/v1/types.go (1.36)."""

from typing import Final, NoReturn

import msgspec

from sampan.resource import ObjectMeta, ObjectType, ResourceInfo

ACCEPT: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
ACCEPT_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


class PartialObjectMetadata(msgspec.Struct, rename="camel", omit_defaults=True):
    """An object without what its kind adds to the metadata."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)


_decoder: Final = msgspec.json.Decoder(PartialObjectMetadata)


def partial_metadata(info: ResourceInfo) -> ObjectType[PartialObjectMetadata]:
    """The objects of a resource, reduced. `encode` raises `ValueError`: change them by patches."""
    return ObjectType(info, _decoder.decode, _refuse)


def _refuse(_: PartialObjectMetadata) -> NoReturn:
    raise ValueError("metadata alone cannot be written as an object: patch it")
