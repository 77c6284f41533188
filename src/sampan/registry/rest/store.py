"""`ResourceStore`: the objects of one resource. Reads come from the watch cache as bytes, writes go to the store.

Source: apiserver pkg/registry/generic/registry/store.go (1.36).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from sampan.core import errors
from sampan.core.object import Object
from sampan.registry.definition import ResourceDefinition
from sampan.registry.strategy import ObjectReader, Strategy
from sampan.schema.decode import Decoder, DecoderCompiler
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode, encode, splice
from sampan.storage.records import Record
from sampan.storage.store import KeyValue, Store
from sampan.wire import json as wire_json

Validate = Callable[[Object, Object | None], Awaitable[None]]
"""Validating admission: takes the final object and the old one, raises `StatusError` to refuse."""

Convert = Callable[[Object], Object]

TRIES_MAX = 100
"""A write that loses this many races in a row gives up with 409."""


class ResourceStore:
    """One resource's part of the store, seen through one strategy.

    Built-ins have one for all their versions and work in the hub version. Custom resources have one per version,
    since their rules are those of the request's version, `api_version`; `from_stored` and `to_stored` convert (in
    place, on a private object). Where a webhook converts, `present` and `stored_form` have done it before.
    """

    __slots__ = (
        "_empty_status",
        "_from_stored",
        "_to_stored",
        "allocators",
        "api_version",
        "cache",
        "definition",
        "is_stale",
        "others",
        "prefix",
        "reader",
        "serves_status",
        "store",
        "strategy",
    )

    def __init__(
        self,
        definition: ResourceDefinition,
        strategy: Strategy,
        store: Store,
        cache: WatchCache,
        reader: ObjectReader,
        *,
        api_version: str = "",
        allocators: Any = None,
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
        self.allocators = allocators
        self.api_version = api_version
        self.is_stale: IsStale | None = None
        """Whether the value at a key is to be written anew though it says the same; None: never."""
        self.others = others
        self.prefix = definition.storage_prefix
        self._from_stored = from_stored
        self._to_stored = to_stored
        self._empty_status: Decoder | None = None

    def key(self, namespace: str, name: str) -> str:
        """Where an object lives."""
        return f"{self.prefix}{namespace}/{name}" if namespace else f"{self.prefix}{name}"

    def scope_prefix(self, namespace: str) -> str:
        """The prefix of all keys of a namespace ("" = the whole resource)."""
        return f"{self.prefix}{namespace}/" if namespace else self.prefix

    async def present(self, value: bytes) -> bytes:
        """A stored value as a webhook, if there is one, would have it in this version. Raises 500."""
        webhook = self.definition.webhook
        return value if webhook is None else (await webhook.values([value], self.api_version))[0]

    async def present_records(self, records: Sequence[Record], *, anew: bool = False) -> Sequence[Record]:
        """The same of records, all in one review; `anew`: also of those that were converted before.

        As in Kubernetes, who wants the newest state waits for the webhook, and who takes any does not.
        """
        webhook = self.definition.webhook
        return records if webhook is None else await webhook.records(records, self.api_version, anew=anew)

    async def stored_form(self, obj: Object) -> Object:
        """The reverse: an object of this version as a webhook, if there is one, would have it stored. Raises 500."""
        definition = self.definition
        if definition.webhook is None:
            return obj
        return (await definition.webhook.convert([obj], definition.storage_api_version))[0]

    def decode(self, value: bytes) -> Object:
        """Stored bytes as a private object in the version that the strategy works in."""
        obj: Object = decode(value)
        return self._from_stored(obj) if self._from_stored is not None else obj

    def encode(self, obj: Object) -> bytes:
        """The bytes to store, with the place for the resourceVersion."""
        return encode(obj if self._to_stored is None else self._to_stored(obj))

    def plain(self, obj: Object) -> bytes:
        """Bytes in the stored version, the resourceVersion as it stands in `obj`."""
        return wire_json.encode(obj if self._to_stored is None else self._to_stored(obj))

    def empty_status(self) -> Object | None:
        """The status of a new object as Go writes it: the zeros that are always there. None: kinds without one."""
        if self._empty_status is None:
            self._empty_status = _empty_status_of(self.definition)
        made: Object | None = self._empty_status({}, [])
        return made

    def not_found(self, name: str) -> errors.StatusError:
        """The 404 of this resource."""
        return errors.not_found(self.definition.group_resource, name)

    async def record(self, namespace: str, name: str) -> Record:
        """The object as it is now (linearizable). Raises 404."""
        await self.cache.fresh()
        record = self.cache.get(self.key(namespace, name))
        if record is None:
            raise self.not_found(name)
        return record


IsStale = Callable[[str], Awaitable[bool]]

Others = Callable[[str, str], ResourceStore]
"""The store of another built-in resource, by group and resource."""


def _empty_status_of(definition: ResourceDefinition) -> Decoder:
    schema = definition.versions[definition.storage_version].schema()
    if "p" in schema.fields.get("status", "p").partition(" ")[0]:
        return lambda value, lost: None
    return DecoderCompiler().compile(schema.properties["status"])


def with_revision(row: KeyValue | None) -> KeyValue | None:
    """A row as the store gives it, its value with the resourceVersion filled in."""
    return None if row is None else row._replace(value=splice(row.value, row.mod_revision))


def row_of(record: Record | None) -> KeyValue | None:
    """The store's view of a cached record; the value has its resourceVersion filled in."""
    if record is None:
        return None
    return KeyValue(record.key, record.value, record.create_revision, record.revision)
