"""Stores by name, for the commands that move what they hold: `sqlite:DIRECTORY` and `etcd:URL,URL`."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sampan.app.errors import StartError
from sampan.app.settings import UpSettings
from sampan.app.storage import engine_store
from sampan.registry.kinds.core import event
from sampan.server.loops.api_servers import addresses
from sampan.storage.snapshot.rows import Rows, StoreRows
from sampan.storage.sqlite.dump import SQLiteRows
from sampan.storage.sqlite.restore import DATABASE, is_unfinished
from sampan.storage.store import KeyValue, Store, prefix_end

OBJECTS = "/registry/"
_TTL_S = {"/registry/events/": event.TTL_S, addresses.PREFIX: addresses.TTL_S}
"""What expires, and after how long: etcd's rows do not say. Nothing else does in Kubernetes."""
_FORMS = "sqlite:DIRECTORY or etcd:URL,URL"


@dataclass(frozen=True, slots=True)
class EtcdAccess:
    """How etcd is reached: what `sampan up` takes as --etcd-…"""

    cafile: Path | None = None
    certfile: Path | None = None
    keyfile: Path | None = None
    prefix: str = "/registry"


def parse_engine(text: str, access: EtcdAccess) -> UpSettings:
    """The settings of a server on this store. Raises `ValueError`."""
    kind, _, place = text.partition(":")
    if kind == "sqlite" and place:
        return UpSettings(storage="sqlite", data=Path(place))
    if kind == "etcd" and place:
        return UpSettings(
            storage="etcd",
            etcd_servers=tuple(url.strip() for url in place.split(",") if url.strip()),
            etcd_cafile=access.cafile,
            etcd_certfile=access.certfile,
            etcd_keyfile=access.keyfile,
            etcd_prefix=access.prefix,
        )
    raise ValueError(f"{text!r} names no store: {_FORMS}")


async def holds_nothing(store: Store) -> bool:
    """Whether no object is stored."""
    return not (await store.range(OBJECTS, prefix_end(OBJECTS), limit=1)).items


def check_whole(directory: Path) -> None:
    """Raises `StartError` when a restore or a copy was killed before there was a store in the data directory."""
    if is_unfinished(directory):
        raise StartError(f"a restore or a copy to {directory} was cut short: run the command again, it begins anew")


@asynccontextmanager
async def rows_of(settings: UpSettings) -> AsyncIterator[Rows]:
    """What a store holds; it is not changed, and may be serving.

    Raises `StartError`, `StoreUnavailable`, `StoreIncomplete`.

    etcd does not say when a row expires: what expires is given its whole time again. Raises `StartError` when there is
    nothing under the prefix in etcd: a copy of nothing would pass for one.
    """
    if settings.storage == "sqlite":
        check_whole(settings.data)
        yield SQLiteRows(settings.data / DATABASE)
        return
    store = engine_store(replace(settings, read_only=True))
    await store.open()
    try:
        if await holds_nothing(store):
            raise StartError(f"etcd holds nothing under {settings.etcd_prefix}/: is it the right --etcd-prefix?")
        yield StoreRows(store, "etcd", expires_at=_expiry, start=OBJECTS, end=prefix_end(OBJECTS))
    finally:
        await store.close()


def _expiry(row: KeyValue) -> float:
    for prefix, ttl_s in _TTL_S.items():
        if row.key.startswith(prefix):
            return time.time() + ttl_s
    return 0
