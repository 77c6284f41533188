"""Client of the Kubernetes API: configuration, transports, resources. Works with any Kubernetes.

    async with connect(field_manager="me") as client:
        networks = client.resource(Network)  # a declared class: ResourceClient[Network]
        pods = await client.resource_for("pods")  # by name: dicts
        await networks.create(Network(metadata=ObjectMeta(name="net"), spec=NetworkSpec("10.0.0.0/24")))
        await wait_for(networks, "net", condition_is("Ready"), timeout_s=30)

`BlockingClient` does the same without `await`.
"""

from sampan.client.apply_diff import ApplyDiff
from sampan.client.blocking.client import BlockingClient
from sampan.client.blocking.resource_client import BlockingResourceClient
from sampan.client.client import Client
from sampan.client.conditions import (
    Condition,
    all_of,
    any_of,
    condition_is,
    deleted,
    exists,
    generation_observed,
    json_path,
    not_,
)
from sampan.client.config import Config, ConfigOverrides, in_cluster_config, load_config
from sampan.client.connect import connect
from sampan.client.create_or_update import OperationResult, create_or_patch, create_or_update
from sampan.client.discovery.discover import Discovered, discover
from sampan.client.discovery.rest_mapper import ResourceName, RESTMapper
from sampan.client.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    ClientError,
    ConfigError,
    Conflict,
    CredentialError,
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
    api_error,
)
from sampan.client.field_ownership import applied_fields, upgrade_managed_fields
from sampan.client.identity import Impersonation
from sampan.client.objects.decoding import Undecoded, guarded
from sampan.client.objects.object_list import ObjectList
from sampan.client.objects.partial_metadata import PartialObjectMetadata
from sampan.client.objects.scale import Scale
from sampan.client.options import DeleteOptions, ListOptions, WriteOptions
from sampan.client.patch import ApplyPatch, JsonPatch, MergePatch, Patch, StrategicMergePatch, merge_patch_between
from sampan.client.resource_client import ResourceClient
from sampan.client.rest_client import RESTClient
from sampan.client.retries.backoff import Backoff
from sampan.client.retries.on_conflict import CONFLICT_BACKOFF, SLOW_CONFLICT_BACKOFF, retry_on_conflict
from sampan.client.retries.retry import RetryPolicy
from sampan.client.stack import connect_transport
from sampan.client.subresource_client import SubresourceClient
from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.client.wait import wait_for
from sampan.client.watching.list_watch import ListWatch, RawEvent, RawList
from sampan.client.watching.pager import list_all, list_pages
from sampan.client.watching.watch import WatchEvent

__all__ = [
    "CONFLICT_BACKOFF",
    "SLOW_CONFLICT_BACKOFF",
    "AlreadyExists",
    "ApiError",
    "ApplyDiff",
    "ApplyPatch",
    "Backoff",
    "BadRequest",
    "BlockingClient",
    "BlockingResourceClient",
    "Client",
    "ClientError",
    "Condition",
    "Config",
    "ConfigError",
    "ConfigOverrides",
    "Conflict",
    "CredentialError",
    "DeleteOptions",
    "Discovered",
    "Expired",
    "Forbidden",
    "HttpRequest",
    "HttpResponse",
    "Impersonation",
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
    "OperationResult",
    "PartialObjectMetadata",
    "Patch",
    "RESTClient",
    "RESTMapper",
    "RawEvent",
    "RawList",
    "RequestEntityTooLarge",
    "ResourceClient",
    "ResourceName",
    "RetryPolicy",
    "Scale",
    "ServerError",
    "ServerTimeout",
    "ServiceUnavailable",
    "StrategicMergePatch",
    "SubresourceClient",
    "Timeout",
    "TooManyRequests",
    "Transport",
    "TransportError",
    "TransportTimeout",
    "Unauthorized",
    "Undecodable",
    "Undecoded",
    "UnsupportedMediaType",
    "WaitTimeout",
    "WatchEvent",
    "WriteOptions",
    "all_of",
    "any_of",
    "api_error",
    "applied_fields",
    "condition_is",
    "connect",
    "connect_transport",
    "create_or_patch",
    "create_or_update",
    "deleted",
    "discover",
    "exists",
    "generation_observed",
    "guarded",
    "in_cluster_config",
    "json_path",
    "list_all",
    "list_pages",
    "load_config",
    "merge_patch_between",
    "not_",
    "retry_on_conflict",
    "upgrade_managed_fields",
    "wait_for",
]
