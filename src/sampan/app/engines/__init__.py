"""Storage engines. Each module registers one; `ENGINES` has them by name.

To add an engine, write a module with a subclass of `Engine`, decorate it with `engine`, and import it here.
"""

from typing import Final

from sampan.app.engines.engine import ENGINES, CopyTarget, Engine, engine
from sampan.app.engines.etcd import EtcdEngine
from sampan.app.engines.memory import MemoryEngine
from sampan.app.engines.sqlite import SQLiteEngine

__all__ = [
    "ENGINES",
    "URL_FORMS",
    "CopyTarget",
    "Engine",
    "EtcdEngine",
    "MemoryEngine",
    "SQLiteEngine",
    "engine",
]

URL_FORMS: Final = " or ".join(
    each.url_form for each in sorted(ENGINES.values(), key=lambda each: not each.local) if each.url_form
)
"""Forms of store URLs, for messages and help: `sqlite:DIRECTORY or etcd:URL,URL`."""
