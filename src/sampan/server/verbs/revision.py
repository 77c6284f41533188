"""resourceVersion of a request. Source: apiserver pkg/storage/{api_object_versioner,errors}.go (1.36)."""

from sampan.core import errors
from sampan.core.field import Path, invalid
from sampan.core.numbers.resource_version import parse_resource_version
from sampan.registry.rest.store import ResourceStore
from sampan.storage.cache import WatchCache
from sampan.storage.store import FutureRevision


def revision_of_list(text: str) -> int:
    """Return the resourceVersion parameter of a list as a number. "" is 0. Raises 400."""
    try:
        return parse_resource_version(text)
    except ValueError as error:
        fault = invalid(Path("resourceVersion"), text, str(error))
        raise errors.StatusError(errors.Reason.BAD_REQUEST, 400, f"invalid resource version: {fault}") from None


def revision_of_read(text: str) -> int:
    """Return the resourceVersion parameter of a get or a watch as a number. Raises 500, as Kubernetes does."""
    try:
        return parse_resource_version(text)
    except ValueError as error:
        fault = invalid(Path("resourceVersion"), text, str(error))
        raise errors.StatusError(errors.Reason.UNKNOWN, 500, str(fault)) from None


async def wait_not_older(store: ResourceStore, revision: int) -> WatchCache:
    """Return the cache of a resource when it has reached a revision. Raises 504 ResourceVersionTooLarge after 3 s."""
    cache = store.cache.newest
    while revision > cache.revision:
        cache = await store.fresh_cache()
        try:
            await cache.wait_for(revision)
        except FutureRevision as future:
            if cache.retired:
                raise
            if cache.successor is None:
                raise errors.too_large_resource_version(revision, future.current_revision) from None
    return cache
