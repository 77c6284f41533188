"""Store of a server, from its settings."""

from sampan.app.settings.up import UpSettings
from sampan.storage.read_only import ReadOnlyStore
from sampan.storage.store import Store
from sampan.storage.translation import Translation, Upgrade, protobuf_form, translated
from sampan.wire.protobuf import MEDIA_TYPE as PROTOBUF


def translation_of(settings: UpSettings, upgrade: Upgrade) -> Translation:
    """Return the translation between the stored encoding and our own. `upgrade` converts what other programs stored."""
    return Translation(protobuf_form if settings.storage_media_type == PROTOBUF else None, upgrade)


def served_store(settings: UpSettings, store: Store, *, translation: Translation) -> Store:
    """Return the store of a server, above one with plain values in their stored encoding."""
    if settings.read_only:
        return ReadOnlyStore(translated(store, translation))
    if settings.storage_media_type == PROTOBUF or settings.storage.persistent:
        return translated(store, translation)
    return store
