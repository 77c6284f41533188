"""Store of a server, from its settings."""

from sampan.app.at_rest import AtRest
from sampan.app.settings import UpSettings
from sampan.storage.read_only import ReadOnlyStore
from sampan.storage.store import Store
from sampan.storage.translation import Translation, Upgrade, protobuf_form, translated
from sampan.wire.protobuf import MEDIA_TYPE as PROTOBUF


def translation_of(settings: UpSettings, upgrade: Upgrade) -> Translation:
    """Return the translation between the stored encoding and our own. `upgrade` converts what other programs stored."""
    return Translation(protobuf_form if settings.storage_media_type == PROTOBUF else None, upgrade)


def store_of(settings: UpSettings, at_rest: AtRest, *, translation: Translation) -> Store:
    """Return the store of a server, not yet open. Raises `StartError` for an engine that cannot be used."""
    store = at_rest.wrap(settings.storage.store(settings.data, read_only=settings.read_only))
    if settings.read_only:
        return ReadOnlyStore(translated(store, translation))
    if settings.storage_media_type == PROTOBUF or settings.storage.persistent:
        return translated(store, translation)
    return store
