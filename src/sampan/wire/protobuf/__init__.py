"""Kubernetes' protobuf form of built-in types, to and from their JSON form."""

from sampan.wire.protobuf.envelope import MEDIA_TYPE, decode

__all__ = ["MEDIA_TYPE", "decode"]
