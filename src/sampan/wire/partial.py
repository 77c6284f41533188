"""PartialObjectMetadata: extract an object's metadata from its JSON bytes without decoding the other fields.

Source: apiserver pkg/endpoints/handlers/response.go (1.36).
"""

import msgspec

from sampan.wire.json import without_deep_parts

META_V1 = "meta.k8s.io/v1"


class _MetadataOnly(msgspec.Struct):
    metadata: msgspec.Raw = msgspec.Raw(b"{}")


_cut = msgspec.json.Decoder(_MetadataOnly).decode
_HEADS = {
    version: b'{"kind":"PartialObjectMetadata","apiVersion":"' + version.encode() + b'","metadata":'
    for version in (META_V1, "meta.k8s.io/v1beta1")
}
_V1_HEAD = _HEADS[META_V1]


def partial_bytes(value: bytes, api_version: str = META_V1) -> bytes:
    """Return the PartialObjectMetadata of an object given as JSON; `api_version` is meta.k8s.io/v1 or v1beta1."""
    head = _V1_HEAD if api_version == META_V1 else _HEADS[api_version]
    try:
        metadata = _cut(value).metadata
    except RecursionError:
        metadata = _cut(without_deep_parts(value)).metadata
    return b"%b%b}" % (head, metadata)
