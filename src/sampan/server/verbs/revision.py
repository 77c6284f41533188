"""resourceVersion as the client gives it. Source: apiserver pkg/storage/{api_object_versioner,errors}.go (1.36)."""

from sampan.core import errors
from sampan.core.field import Path, invalid
from sampan.storage.cache import WatchCache
from sampan.storage.store import FutureRevision


def parse_resource_version(text: str) -> int:
    """A resourceVersion parameter as a number; "" is 0. Raises 400."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()) or int(text) >= 2**64:
        reason = "value out of range" if text.isascii() and text.isdigit() else "invalid syntax"
        fault = invalid(Path("resourceVersion"), text, f'strconv.ParseUint: parsing "{text}": {reason}')
        raise errors.StatusError(errors.Reason.BAD_REQUEST, 400, f"invalid resource version: {fault}")
    return int(text)


async def wait_not_older(cache: WatchCache, revision: int) -> None:
    """Wait (at most 3 s) until the cache has seen a revision. Raises 504 ResourceVersionTooLarge."""
    if revision <= cache.revision:
        return
    await cache.fresh()
    try:
        await cache.wait_for(revision)
    except FutureRevision as future:
        raise errors.too_large_resource_version(revision, future.current_revision) from None
