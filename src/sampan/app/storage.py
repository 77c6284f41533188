"""From the settings of a server to its store."""

import os
from importlib import import_module
from typing import Any, Protocol

from sampan.app.at_rest import AtRest
from sampan.app.errors import StartError
from sampan.app.settings import UpSettings
from sampan.storage.memory import MemoryStore
from sampan.storage.read_only import ReadOnlyStore
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import Store
from sampan.storage.translation import Translation, protobuf_form, translated
from sampan.wire.protobuf import MEDIA_TYPE as PROTOBUF

_NEVER_S = 1e9


def translation_of(settings: UpSettings) -> Translation:
    """In which form values are stored."""
    return Translation(protobuf_form if settings.storage_media_type == PROTOBUF else None)


def store_of(settings: UpSettings, at_rest: AtRest, *, translation: Translation) -> Store:
    """Return the store of a server, not yet open. Raises `StartError` for settings of etcd that cannot work."""
    store = at_rest.wrap(engine_store(settings))
    if settings.read_only:
        return ReadOnlyStore(translated(store, translation))
    if settings.storage_media_type == PROTOBUF or settings.storage != "memory":
        return translated(store, translation)
    return store


def engine_store(settings: UpSettings) -> Store:
    """Return the storage engine, whose values are as they are on disk. Raises `StartError`."""
    if settings.storage == "etcd":
        engine = _etcd_engine()
        store: Store = engine.EtcdStore(_etcd_settings(engine, settings))
        return store
    if settings.storage == "memory":
        return MemoryStore()
    return SQLiteStore(settings.data / "state.db", expiry_interval_s=_NEVER_S if settings.read_only else 1.0)


class CopyTarget(Store, Protocol):
    """A store to which another one is copied: `storage/snapshot/etcd_target.py`."""

    async def begin(self, what: str, *, clear: bool) -> None:
        """Mark what is written from now on as a part of the copy `what`; `clear`: in the place of another part."""

    async def finish(self) -> None:
        """What is there is whole."""


def copy_target(settings: UpSettings) -> CopyTarget:
    """The store on etcd to which another one is to be copied. Raises `StartError`."""
    engine = _etcd_engine()
    targets = import_module("sampan.storage.snapshot.etcd_target")
    target: CopyTarget = targets.EtcdCopyTarget(_etcd_settings(engine, settings))
    return target


def _etcd_engine() -> Any:
    """By name, and only here: gRPC takes 90 ms and 15 MB to load, which servers without etcd need not pay."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it writes on standard error what is said here in other words
    # Names as the system finds them: its own resolver waits for a name server also for what /etc/hosts says.
    os.environ.setdefault("GRPC_DNS_RESOLVER", "native")
    return import_module("sampan.storage.etcd")


def _etcd_settings(engine: Any, settings: UpSettings) -> Any:
    try:
        return engine.EtcdSettings(
            settings.etcd_servers,
            settings.etcd_prefix,
            settings.etcd_cafile,
            settings.etcd_certfile,
            settings.etcd_keyfile,
        )
    except ValueError as error:
        raise StartError(str(error)) from error
