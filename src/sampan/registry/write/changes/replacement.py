"""`Replacement`: the object of a PUT. Source: apiserver pkg/endpoints/handlers/update.go (1.36)."""

from sampan.core.event_loop.offload import note_size, offloaded
from sampan.core.object import Object
from sampan.registry.rest.store import ResourceStore
from sampan.registry.write.changes.body import Body, UnknownObject, check_fits, decode_object, normalise, undecoded
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.changes.recognition import check_kind
from sampan.registry.write.write import Change, Write


class Replacement(Change):
    """Object of the body that replaces the stored one.

    Later steps change the object, so a retry decodes the body again.
    """

    __slots__ = ("_body", "_bytes", "_given", "_is_fresh", "_options")

    def __init__(self, body: Body, options: WriteOptions) -> None:
        self._body, self._options = body, options
        self._bytes = b""
        self._given: UnknownObject
        self._is_fresh = True

    def creates(self, store: ResourceStore) -> bool:
        """Return True for kinds that PUT can create, such as Lease."""
        return store.strategy.allow_create_on_update

    async def read(self, write: Write) -> None:
        """Read the body as an object whose kind and version can be read."""
        self._bytes = await self._body.read()
        note_size(write.store.strategy.size_of_work(len(self._bytes)))
        given = await offloaded(self._undecoded, write)
        self._given, write.desired = given, given.obj

    def _undecoded(self, write: Write) -> UnknownObject:
        assert write.endpoint is not None
        return undecoded(self._bytes, self._body.content_type, write.endpoint, self._options)

    def decode(self, write: Write) -> None:
        """Decode the object. Its uid is a precondition. Raises 400 if it does not match the path."""
        assert write.endpoint is not None
        obj = decode_object(self._given, write.endpoint, self._options, write.warnings, self._body.audit)
        check_fits(write, obj)
        write.uid = obj["metadata"].get("uid")

    async def make(self, write: Write) -> Object:
        """Return the object."""
        if self._is_fresh:
            self._is_fresh = False
            if self._body.converted is not None:
                self._body.converted()
            return self._given.obj
        return await offloaded(self._decoded_again, write)

    def _decoded_again(self, write: Write) -> Object:
        assert write.endpoint is not None
        obj = self._undecoded(write).obj
        check_kind(obj, write.endpoint)
        normalise(obj, write.endpoint, None)
        check_fits(write, obj)
        return obj
