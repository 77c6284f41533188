"""From the settings of a server to its store."""

from importlib import import_module

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


def store_of(settings: UpSettings, at_rest: AtRest, translation: Translation) -> Store:
    """The store, not yet open. Raises `StartError` for what etcd cannot be reached by."""
    store = at_rest.wrap(engine_store(settings))
    if settings.read_only:
        return ReadOnlyStore(translated(store, translation))
    if settings.storage_media_type == PROTOBUF or settings.storage != "memory":
        return translated(store, translation)
    return store


def engine_store(settings: UpSettings) -> Store:
    """The store with its values as they are kept. Raises `StartError`."""
    if settings.storage == "etcd":
        return _etcd(settings)
    if settings.storage == "memory":
        return MemoryStore()
    return SQLiteStore(settings.data / "state.db", expiry_interval_s=_NEVER_S if settings.read_only else 1.0)


def _etcd(settings: UpSettings) -> Store:
    # By name, and only here: gRPC takes 90 ms and 15 MB to load, which servers without etcd need not pay.
    engine = import_module("sampan.storage.etcd")
    try:
        store: Store = engine.EtcdStore(
            engine.EtcdSettings(
                settings.etcd_servers,
                settings.etcd_prefix,
                settings.etcd_cafile,
                settings.etcd_certfile,
                settings.etcd_keyfile,
                writes=not settings.read_only,
                always_ask=settings.etcd_always_ask,
            )
        )
    except ValueError as error:
        raise StartError(str(error)) from error
    return store
