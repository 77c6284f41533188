"""The garbage collector: deletes what nobody owns any more, and lets go of, or deletes first, what an owner had.

| file | what it has |
|---|---|
| `garbage_collector.py` | its life: discovery, the monitors, the workers |
| `monitors.py`, `monitor.py` | what is watched: the metadata of all that can be listed, watched and deleted |
| `graph.py`, `node.py` | who owns whom, and what follows from a change |
| `identity.py`, `alternatives.py` | what objects and owner references are called, and what if they disagree |
| `deletion.py`, `owners.py` | whether an object is garbage, and its deletion |
| `orphaning.py` | letting go of the dependents of an owner that goes |
| `live_objects.py` | the requests to the server |

Source: kube-controller-manager pkg/controller/garbagecollector (1.36).
"""

from sampan.controllers.garbage_collector.garbage_collector import GarbageCollector, set_up

__all__ = ["GarbageCollector", "set_up"]
