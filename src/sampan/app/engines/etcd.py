"""The engine `etcd`: a store that several servers share."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from sampan.app.engines.contents import holds_nothing
from sampan.app.engines.engine import CopyTarget, Engine, engine
from sampan.app.errors import StartError
from sampan.core.extras import MissingExtra, import_extra
from sampan.core.settings import nested
from sampan.storage.etcd import EtcdSettings
from sampan.storage.snapshot.rows import Rows
from sampan.storage.store import Store


@engine
@dataclass(frozen=True, slots=True)
class EtcdEngine(Engine):
    """Store in etcd. Its code is loaded when it is used: gRPC takes 90 ms and 15 MB."""

    name = "etcd"
    summary = "several servers can share it"
    url_form = "etcd:URL,URL"
    url_option = "etcd-servers"
    shared = True

    etcd: EtcdSettings = nested(EtcdSettings, prefix="etcd-")

    def store(self, directory: Path, *, read_only: bool = False) -> Store:
        """Return the store, not yet open."""
        _quiet_grpc()
        store: Store = _load("sampan.storage.etcd.store").EtcdStore(self.etcd)
        return store

    def at(self, place: str) -> tuple[Engine, None]:
        """Return the engine for the place in a store URL, and the data directory if the place is one."""
        servers = tuple(url.strip() for url in place.split(",") if url.strip())
        return replace(self, etcd=replace(self.etcd, servers=servers)), None

    @asynccontextmanager
    async def rows(self, directory: Path) -> AsyncIterator[Rows]:
        """Return the content of a store, which is not changed and may be in use by a server.

        Raises `StartError` if the prefix is empty: it would look like the copy of an empty store.
        """
        store = self.store(directory, read_only=True)
        await store.open()
        try:
            if await holds_nothing(store):
                raise StartError(f"etcd has no objects under {self.etcd.prefix}/: check --etcd-prefix")
            rows: Rows = _load("sampan.app.engines.etcd_rows").EtcdRows(store, self.name)
            yield rows
        finally:
            await store.close()

    def copy_target(self) -> CopyTarget:
        """Return the target of a copy, if the engine is not `local`."""
        _quiet_grpc()
        target: CopyTarget = _load("sampan.storage.snapshot.etcd_target").EtcdCopyTarget(self.etcd)
        return target


def _load(module: str) -> ModuleType:
    try:
        return import_extra(module, extra="etcd", feature="etcd as a store")
    except MissingExtra as error:
        raise StartError(str(error)) from None


def _quiet_grpc() -> None:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC logs to stderr the errors that this program reports itself
    # Use the system's resolver: gRPC's own waits for a name server even for names in /etc/hosts.
    os.environ.setdefault("GRPC_DNS_RESOLVER", "native")
