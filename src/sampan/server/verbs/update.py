"""PUT: replace an object or its status. Source: apiserver pkg/endpoints/handlers/update.go (1.36)."""

from sampan.core.object import Object
from sampan.core.offload import note_size, offloaded
from sampan.registry.rest.metadata import match_name, match_namespace, metadata_of
from sampan.registry.rest.store import ResourceStore
from sampan.registry.write.runner import run
from sampan.registry.write.write import Change, Kind, Write
from sampan.server.request import Response
from sampan.server.verbs.body import decode_object, normalise, read_limited, undecoded
from sampan.server.verbs.create import warn_of_duplicate_owners
from sampan.server.verbs.options import WriteOptions, write_options
from sampan.server.verbs.recognition import check_kind
from sampan.server.verbs.respond import object_response
from sampan.server.verbs.scope import Scope
from sampan.server.verbs.write import write_of


class Replacement(Change):
    """Object of the body that replaces the stored one.

    Later steps change the object, so a retry decodes the body again.
    """

    __slots__ = ("_body", "_faults", "_is_fresh", "_obj", "_options", "_scope")

    def __init__(self, scope: Scope, options: WriteOptions) -> None:
        self._scope, self._options = scope, options
        self._body = b""
        self._obj: Object = {}
        self._faults: list[str] = []
        self._is_fresh = True

    def creates(self, store: ResourceStore) -> bool:
        """Return True for kinds that PUT can create, such as Lease."""
        return store.strategy.allow_create_on_update

    async def read(self, write: Write) -> None:
        """Read the body as an object whose kind and version are known."""
        scope, duplicates = self._scope, self._options.field_validation != "Ignore"
        self._body = await read_limited(scope.request)
        note_size(write.store.strategy.size_of_work(len(self._body)))
        self._obj, self._faults = await offloaded(undecoded, self._body, scope.request, scope.endpoint, duplicates)
        write.desired = self._obj

    def decode(self, write: Write) -> None:
        """Decode the object. Its uid is a precondition. Raises 400 if it does not match the path."""
        scope = self._scope
        decode_object(self._obj, scope.endpoint, self._options, self._faults, scope.request)
        check_fits(scope, self._obj)
        write.uid = self._obj["metadata"].get("uid")

    async def make(self, write: Write) -> Object:
        """Return the object."""
        if self._is_fresh:
            self._is_fresh = False
            self._scope.request.step("Conversion done")
            return self._obj
        return await offloaded(self._decoded_again)

    def _decoded_again(self) -> Object:
        scope = self._scope
        obj, _ = undecoded(self._body, scope.request, scope.endpoint, False)
        check_kind(obj, scope.endpoint)
        normalise(obj, scope.endpoint, None)
        check_fits(scope, obj)
        return obj


async def update(scope: Scope) -> Response:
    """Return 200, or 201 if PUT created the object."""
    request = scope.request
    options = write_options(request, "UpdateOptions")
    write = await run(write_of(scope, Kind.UPDATE, Replacement(scope, options), options))
    request.step("Write to database call succeeded")
    return await object_response(request, scope.endpoint, write.result, 201 if write.created else 200)


def check_fits(scope: Scope, obj: Object) -> None:
    """Check that name and namespace match the path, and remove duplicate owners. Raises 400."""
    metadata = metadata_of(obj)
    match_namespace(scope.endpoint.definition, scope.ctx.namespace, metadata)
    match_name(scope.request.info.name, metadata)
    if metadata.get("ownerReferences"):
        warn_of_duplicate_owners(scope.request, metadata)
