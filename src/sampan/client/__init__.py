"""The client's half of the API: configuration, transport, resources. Works against any Kubernetes."""

from sampan.client.backoff import Backoff
from sampan.client.client import Client
from sampan.client.decoding import Undecoded, guarded
from sampan.client.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    ClientError,
    ConfigError,
    Conflict,
    Expired,
    Forbidden,
    InternalError,
    Invalid,
    MethodNotAllowed,
    NoMatch,
    NotAcceptable,
    NotFound,
    RequestEntityTooLarge,
    ServerError,
    ServerTimeout,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    TransportError,
    TransportTimeout,
    Unauthorized,
    Undecodable,
    UnsupportedMediaType,
    WaitTimeout,
)
from sampan.client.list_watch import ListWatch, RawEvent, RawList
from sampan.client.object_list import ObjectList
from sampan.client.options import DeleteOptions, ListOptions, WriteOptions
from sampan.client.partial_metadata import PartialObjectMetadata
from sampan.client.patch import ApplyPatch, JsonPatch, MergePatch, Patch, StrategicMergePatch, merge_patch_between
from sampan.client.resource_client import ResourceClient
from sampan.client.rest_mapper import RESTMapper
from sampan.client.scale import Scale
from sampan.client.subresource_client import SubresourceClient
from sampan.client.watch import WatchEvent

__all__ = [
    "AlreadyExists",
    "ApiError",
    "ApplyPatch",
    "Backoff",
    "BadRequest",
    "Client",
    "ClientError",
    "ConfigError",
    "Conflict",
    "DeleteOptions",
    "Expired",
    "Forbidden",
    "InternalError",
    "Invalid",
    "JsonPatch",
    "ListOptions",
    "ListWatch",
    "MergePatch",
    "MethodNotAllowed",
    "NoMatch",
    "NotAcceptable",
    "NotFound",
    "ObjectList",
    "PartialObjectMetadata",
    "Patch",
    "RESTMapper",
    "RawEvent",
    "RawList",
    "RequestEntityTooLarge",
    "ResourceClient",
    "Scale",
    "ServerError",
    "ServerTimeout",
    "ServiceUnavailable",
    "StrategicMergePatch",
    "SubresourceClient",
    "Timeout",
    "TooManyRequests",
    "TransportError",
    "TransportTimeout",
    "Unauthorized",
    "Undecodable",
    "Undecoded",
    "UnsupportedMediaType",
    "WaitTimeout",
    "WatchEvent",
    "WriteOptions",
    "guarded",
    "merge_patch_between",
]
