"""`Creation`: a new object. Source: apiserver pkg/endpoints/handlers/create.go (1.36)."""

from sampan.core.event_loop.offload import note_size, offloaded
from sampan.core.object import Object
from sampan.registry.rest.metadata import match_namespace, metadata_of, wipe_system_fields
from sampan.registry.write.changes.body import Body, UnknownObject, decode_object, undecoded, warn_of_duplicate_owners
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.write import Change, Write


class Creation(Change):
    """New object of the body."""

    __slots__ = ("_body", "_given", "_options")

    def __init__(self, body: Body, options: WriteOptions) -> None:
        self._body, self._options = body, options
        self._given: UnknownObject

    async def read(self, write: Write) -> None:
        """Read the body as an object whose kind and version can be read."""
        assert write.endpoint is not None
        body, content_type = await self._body.read(), self._body.content_type
        note_size(write.store.strategy.size_of_work(len(body)))
        given = await offloaded(undecoded, body, content_type, write.endpoint, self._options)
        self._given, write.desired = given, given.obj

    def decode(self, write: Write) -> None:
        """Decode the object, and drop fields that only the server sets. Raises 400 if it does not match the path."""
        assert write.endpoint is not None
        obj = decode_object(self._given, write.endpoint, self._options, write.warnings, self._body.audit)
        metadata = metadata_of(obj)
        wipe_system_fields(metadata)
        match_namespace(write.endpoint.definition, write.ctx.namespace, metadata)
        warn_of_duplicate_owners(metadata, write.warnings)

    async def make(self, write: Write) -> Object:
        """Return the object."""
        if self._body.converted is not None:
            self._body.converted()
        return self._given.obj
