"""`ResourceStore`: objects of one resource. Reads return bytes from the watch cache; writes go to the store.

Source: apiserver pkg/registry/generic/registry/store.go (1.36).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from sampan.core import errors
from sampan.core.clock import unix_time
from sampan.core.object import Object
from sampan.registry.definition import ResourceDefinition
from sampan.registry.rest.recent_writes import TEXT_LENGTH_MAX, WRITES_MAX, RecentWrites, WriteRecord
from sampan.registry.step_times import StepTimes
from sampan.registry.strategy import Context, RecordReader, Strategy
from sampan.schema.decoding.decode import Decoder, DecoderCompiler
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode, encode, splice
from sampan.storage.records import Record
from sampan.storage.store import FutureRevision, KeyValue, Store
from sampan.wire import json as wire_json

Convert = Callable[[Object], Object]

TRIES_MAX = 100
"""Maximum number of attempts of a write. If all of them conflict with other writes, the client gets a 409."""


class ResourceStore:
    """View of one resource in the store, through one strategy.

    Built-in types have one strategy for all their versions, which uses the hub version. Custom resources have one
    strategy for each version, because the rules depend on the request's version (`api_version`). `from_stored` and
    `to_stored` convert in place, on a private object. If a webhook converts, `present` and `stored_form` must run
    before them.
    """

    __slots__ = (
        "_empty_status",
        "_from_stored",
        "_to_stored",
        "allocation",
        "api_version",
        "cache",
        "definition",
        "is_stale",
        "others",
        "prefix",
        "reader",
        "recent_writes",
        "serves_status",
        "step_times",
        "store",
        "strategy",
    )

    def __init__(
        self,
        definition: ResourceDefinition,
        strategy: Strategy,
        store: Store,
        cache: WatchCache,
        reader: RecordReader,
        *,
        step_times: StepTimes,
        recent_writes: RecentWrites,
        api_version: str = "",
        is_stale: "IsStale | None" = None,
        allocation: Any = None,
        others: "Others | None" = None,
        from_stored: Convert | None = None,
        to_stored: Convert | None = None,
    ) -> None:
        self.definition = definition
        self.serves_status = any(version.status for version in definition.versions.values())
        self.strategy = strategy
        self.store = store
        self.cache = cache
        self.reader = reader
        self.step_times = step_times
        self.recent_writes = recent_writes
        self.allocation = allocation
        self.api_version = api_version
        self.is_stale = is_stale
        """Predicate for keys whose value must be written again even if the object is unchanged. None: there are no such
        keys.
        """
        self.others = others
        self.prefix = definition.storage_prefix
        self._from_stored = from_stored
        self._to_stored = to_stored
        self._empty_status: Decoder | None = None

    def key(self, namespace: str, name: str) -> str:
        """Return the key of an object."""
        return f"{self.prefix}{namespace}/{name}" if namespace else f"{self.prefix}{name}"

    def scope_prefix(self, namespace: str) -> str:
        """Return the prefix of all keys of a namespace ("" = the whole resource)."""
        return f"{self.prefix}{namespace}/" if namespace else self.prefix

    async def present(self, value: bytes) -> bytes:
        """Return a stored value in this version if a webhook converts it, else unchanged. Raises 500."""
        webhook = self.definition.webhook
        return value if webhook is None else (await webhook.values([value], self.api_version))[0]

    async def present_records(self, records: Sequence[Record], *, refresh: bool = False) -> Sequence[Record]:
        """Convert records like `present`, all in one review. `refresh` skips the cache of converted records.

        As in Kubernetes, a client that requires the newest state waits for the webhook. A client that accepts any state
        does not.
        """
        webhook = self.definition.webhook
        return records if webhook is None else await webhook.records(records, self.api_version, refresh=refresh)

    def note_write(self, revision: int, ctx: Context, manager: str) -> None:
        """Record time and client of an acknowledged write."""
        user, agent, trace = ctx.user, ctx.user_agent, ctx.traceparent
        self.recent_writes[revision % WRITES_MAX] = WriteRecord(
            revision, unix_time(), user[:TEXT_LENGTH_MAX], agent[:TEXT_LENGTH_MAX], manager, trace[:TEXT_LENGTH_MAX]
        )

    async def stored_form(self, obj: Object) -> Object:
        """Return an object in the stored version if a webhook converts it, else unchanged. Raises 500."""
        definition = self.definition
        if definition.webhook is None:
            return obj
        return (await definition.webhook.convert([obj], definition.storage_api_version))[0]

    def decode(self, value: bytes) -> Object:
        """Decode stored bytes into a private object in the strategy's version."""
        obj: Object = decode(value)
        return self._from_stored(obj) if self._from_stored is not None else obj

    def encode(self, obj: Object) -> bytes:
        """Encode an object for the store, with a placeholder for the resourceVersion."""
        return encode(obj if self._to_stored is None else self._to_stored(obj))

    def plain(self, obj: Object) -> bytes:
        """Encode an object in the stored version, with its own resourceVersion."""
        return wire_json.encode(obj if self._to_stored is None else self._to_stored(obj))

    def empty_status(self) -> Object | None:
        """Return a new object's status as Go encodes it, with all zeros that are never omitted. None: no status."""
        if self._empty_status is None:
            self._empty_status = _empty_status_of(self.definition)
        made: Object | None = self._empty_status({}, [])
        return made

    def not_found(self, name: str) -> errors.StatusError:
        """Return the 404 error of this resource."""
        return errors.not_found(self.definition.group_resource, name)

    async def fresh_cache(self) -> WatchCache:
        """Return the cache of this resource with all writes up to now. Raises `FutureRevision` if that takes too long.

        A change of a CRD replaces the cache. A request in progress then waits for the new one.
        """
        while True:
            cache = self.cache.newest
            try:
                await cache.fresh()
                return cache
            except FutureRevision:
                if cache.successor is None:
                    raise

    async def record(self, namespace: str, name: str) -> Record:
        """Return the current state of an object by a quorum read. Raises 404."""
        record = (await self.fresh_cache()).get(self.key(namespace, name))
        if record is None:
            raise self.not_found(name)
        return record


IsStale = Callable[[str], Awaitable[bool]]

Others = Callable[[str, str], ResourceStore]
"""Returns the store of another built-in resource, by group and resource."""


def _empty_status_of(definition: ResourceDefinition) -> Decoder:
    schema = definition.versions[definition.storage_version].schema()
    if "p" in schema.fields.get("status", "p").partition(" ")[0]:
        return lambda value, lost: None
    return DecoderCompiler().compile(schema.properties["status"])


def with_revision(row: KeyValue | None) -> KeyValue | None:
    """Return a row of the store with the resourceVersion filled in."""
    return None if row is None else row._replace(value=splice(row.value, row.mod_revision))


def row_of(record: Record | None) -> KeyValue | None:
    """Return a cached record as a row of the store. Its value contains the resourceVersion."""
    if record is None:
        return None
    return KeyValue(record.key, record.value, record.create_revision, record.revision)
