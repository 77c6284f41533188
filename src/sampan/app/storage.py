"""From the settings of a server to its store."""

import asyncio
import os
import socket
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from sampan.app.at_rest import AtRest
from sampan.app.errors import StartError
from sampan.app.listen import advertised_address, bind_socket
from sampan.app.settings import UpSettings
from sampan.storage.memory import MemoryStore
from sampan.storage.read_only import ReadOnlyStore
from sampan.storage.signal import Signal
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import Store
from sampan.storage.translation import Translation, protobuf_form, translated
from sampan.wire.protobuf import MEDIA_TYPE as PROTOBUF

_NEVER_S = 1e9


def translation_of(settings: UpSettings) -> Translation:
    """In which form values are stored."""
    return Translation(protobuf_form if settings.storage_media_type == PROTOBUF else None)


def store_of(settings: UpSettings, at_rest: AtRest, *, translation: Translation, lost: Signal) -> Store:
    """The store, not yet open. `lost` is notified each time that etcd is found to be away.

    Raises `StartError` for what etcd cannot be reached by.
    """
    store = at_rest.wrap(engine_store(settings, serves=True, lost=lost))
    if settings.read_only:
        return ReadOnlyStore(translated(store, translation))
    if settings.storage_media_type == PROTOBUF or settings.storage != "memory":
        return translated(store, translation)
    return store


def engine_store(settings: UpSettings, *, serves: bool = False, lost: Signal | None = None) -> Store:
    """The store with its values as they are kept. `serves`: for a server. `lost`: see `store_of`.

    Raises `StartError`.
    """
    if settings.storage == "etcd":
        return _etcd(settings, serves=serves, lost=lost)
    if settings.storage == "memory":
        return MemoryStore()
    return SQLiteStore(settings.data / "state.db", expiry_interval_s=_NEVER_S if settings.read_only else 1.0)


class CopyTarget(Store, Protocol):
    """A store to which another one is copied: `storage/etcd/copy_target.py`."""

    async def begin(self, what: str, *, clear: bool) -> None:
        """Mark what is written from now on as a part of the copy `what`; `clear`: in the place of another part."""

    async def finish(self) -> None:
        """What is there is whole."""


def copy_target(settings: UpSettings) -> CopyTarget:
    """The store on etcd to which another one is to be copied. Raises `StartError`."""
    engine = _etcd_engine()
    target: CopyTarget = engine.EtcdCopyTarget(_etcd_settings(engine, settings))
    return target


async def look_after_storage(settings: UpSettings, ready: asyncio.Event, lost: Signal) -> None:
    """Once the server is ready, tell of endpoints of etcd that cannot be used; until cancelled. `lost`: look now."""
    if settings.storage != "etcd":
        return
    await ready.wait()
    engine = _etcd_engine()
    await engine.look_after_endpoints(_etcd_settings(engine, settings), lost.wait)


def _etcd(settings: UpSettings, *, serves: bool, lost: Signal | None) -> Store:
    engine = _etcd_engine()
    listen = partial(_listen, settings) if serves and not settings.read_only else None
    etcd = engine.EtcdStore(_etcd_settings(engine, settings), listen=listen)
    etcd.lost = lost and lost.notify
    store: Store = etcd
    return store


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
            writes=not settings.read_only,
            always_ask=settings.etcd_always_ask,
        )
    except ValueError as error:
        raise StartError(str(error)) from error


def _listen(settings: UpSettings) -> tuple[socket.socket, str]:
    """Where other servers on the same etcd ask this one."""
    try:
        sock = bind_socket(settings.bind, settings.peer_port)
    except OSError as error:
        message = f"cannot listen for other servers on {settings.bind}:{settings.peer_port}: {error.strerror}"
        raise StartError(message) from error
    return sock, advertised_address(sock)
