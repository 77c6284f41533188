"""GET of one object. Source: apiserver pkg/endpoints/handlers/get.go, pkg/storage/cacher Get (1.36)."""

from sampan.core import errors
from sampan.server.request import Response
from sampan.server.verbs.representations.respond import object_response
from sampan.server.verbs.revision import revision_of_read, wait_not_older
from sampan.server.verbs.scope import RequestScope


async def get(scope: RequestScope) -> Response:
    """Return 200 with the current object, or (resourceVersion=N) one that is not older than N."""
    request, endpoint = scope.request, scope.endpoint
    store = endpoint.store
    if request.wire.query and request.wire.param("export", "false").lower() not in ("false", "0"):
        raise errors.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    desired = request.wire.param("resourceVersion") if request.wire.query else ""
    if not desired:
        cache = await store.fresh_cache()
    elif (revision := revision_of_read(desired)) > 0:
        cache = await wait_not_older(store, revision)
    else:
        cache = store.cache.newest
        cache.poll()
    name = request.info.name
    record = cache.get(store.key(scope.ctx.namespace, name))
    if record is None:
        raise store.not_found(name)
    if store.definition.webhook is not None:
        (record,) = await store.present_records([record], refresh=not desired)
    return await object_response(request, endpoint, record.value)
