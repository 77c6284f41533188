"""Storage engines. Each module registers one; `ENGINES` has them by name.

To add an engine, write a module with a subclass of `Engine`, decorate it with `engine`, and import it here.
"""

from sampan.app.engines.engine import ENGINES, CopyTarget, Engine, engine
from sampan.app.engines.etcd import EtcdEngine
from sampan.app.engines.memory import MemoryEngine
from sampan.app.engines.sqlite import SQLiteEngine

__all__ = ["ENGINES", "CopyTarget", "Engine", "EtcdEngine", "MemoryEngine", "SQLiteEngine", "engine"]
