"""`discover`: the groups, versions and resources of a server.

Uses aggregated discovery (two requests) if the server has it, else one document for each group version, ten at a time.
A group version that fails (for example of an extension API server that is down) is reported in `Discovered.failed`.

The commands keep no cache on disk, unlike kubectl: discovery takes 5 of the 200 ms of `sampan get nodes`.

Source: client-go discovery/discovery_client.go, aggregated_discovery.go (1.36).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec

from sampan.client.discovery.documents import AggregatedList, LegacyGroups, LegacyResources, Root, aggregated, legacy
from sampan.client.errors import ApiError, Forbidden, NotFound, TransportError
from sampan.client.rest_client import RESTClient
from sampan.core.gvk import GroupVersion
from sampan.resource import ResourceInfo
from sampan.wire.json import UNREADABLE

ACCEPT: Final = ",".join(
    (
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        "application/json",
    )
)
CONCURRENCY_MAX: Final = 10
"""Maximum number of concurrent requests for documents of group versions."""

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Discovered:
    """Resources of a server, in the server's order: groups by priority, the core group first. The preferred version is
    first.
    """

    versions: Mapping[GroupVersion, Sequence[ResourceInfo]]
    failed: Mapping[GroupVersion, str] = field(default_factory=dict)
    """Error for each group version whose resources are unknown."""

    @property
    def resources(self) -> list[ResourceInfo]:
        """All resources of all versions, in order."""
        return [resource for resources in self.versions.values() for resource in resources]


async def discover(rest: RESTClient) -> Discovered:
    """Discover a server's resources. Raises `ApiError` or `TransportError` if even the groups are unknown."""
    try:
        async with asyncio.TaskGroup() as group:
            core = group.create_task(_root(rest, "/api"))
            named = group.create_task(_root(rest, "/apis"))
    except ExceptionGroup as failures:
        # Both requests fail for the same reason. Callers expect a `ClientError`, not an exception group.
        raise failures.exceptions[0] from None
    versions: dict[GroupVersion, Sequence[ResourceInfo]] = {}
    failed: dict[GroupVersion, str] = {}
    for found in (core.result(), named.result()):
        versions |= found.versions
        failed |= found.failed
    return Discovered(versions, failed)


async def _root(rest: RESTClient, path: str) -> Discovered:
    """Discover the groups below `/api` or `/apis`. A root that is missing or forbidden counts as empty."""
    try:
        body = await rest.call("GET", path, headers={"accept": ACCEPT})
    except (NotFound, Forbidden):
        return Discovered({})
    kind = _decode(Root, body).kind
    if kind == "APIGroupDiscoveryList":
        versions, stale = aggregated(_decode(AggregatedList, body))
        return Discovered(versions, stale)
    return await _one_by_one(rest, _decode(LegacyGroups, body).group_versions())


async def _one_by_one(rest: RESTClient, group_versions: Sequence[GroupVersion]) -> Discovered:
    gate = asyncio.Semaphore(CONCURRENCY_MAX)
    failed: dict[GroupVersion, str] = {}

    async def resources(group_version: GroupVersion) -> Sequence[ResourceInfo] | None:
        root = "/apis" if group_version.group else "/api"
        async with gate:
            try:
                body = await rest.call("GET", f"{root}/{group_version}")
                return legacy(group_version, _decode(LegacyResources, body))
            except (ApiError, TransportError) as error:
                failed[group_version] = str(error)
                return None

    async with asyncio.TaskGroup() as group:
        tasks = {each: group.create_task(resources(each)) for each in group_versions}
    found = {each: result for each, task in tasks.items() if (result := task.result()) is not None}
    return Discovered(found, failed)


def _decode(document: type[D], body: bytes) -> D:
    try:
        return msgspec.json.decode(body, type=document)
    except UNREADABLE as error:
        raise TransportError(f"cannot decode discovery document: {error}", sent=True) from None
