"""`StoreLocation`: a store that a command names, such as `sqlite:DIRECTORY` and `etcd:URL,URL`."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from sampan.app.engines import ENGINES, URL_FORMS, Engine
from sampan.app.settings.up import UpSettings
from sampan.storage.snapshot.rows import Rows


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """Location of a store: an engine with its settings, and the data directory."""

    engine: Engine
    directory: Path

    def rows(self) -> AbstractAsyncContextManager[Rows]:
        """Return the content of a store, which is not changed and may be in use by a server."""
        return self.engine.rows(self.directory)


def parse_store(text: str, engines: Mapping[str, Engine] | None = None) -> StoreLocation:
    """Return the store of a URL. `engines` are those whose settings differ from the defaults. Raises `ValueError`."""
    name, _, place = text.partition(":")
    known = engines or {name: make() for name, make in ENGINES.items()}
    found = known.get(name)
    if found is None or not found.url_form or not place:
        hint = f"; for the data directory {text} use sqlite:{text}" if ":" not in text and text else ""
        raise ValueError(f"{text!r} is not a store URL: {URL_FORMS}{hint}")
    engine, directory = found.at(place)
    return StoreLocation(engine, directory or UpSettings().data)
