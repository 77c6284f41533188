"""The garbage collector: deletes objects without owners, and orphans or deletes the dependents of deleted owners.

| file | content |
|---|---|
| `garbage_collector.py` | discovery, the monitors and the workers |
| `monitors.py`, `monitor.py` | watches of the metadata of all resources that support list, watch and delete |
| `graph.py`, `graph_node.py` | the graph of owners and dependents: effects of a change, conflicts of references |
| `identity.py` | identities of objects and owner references |
| `deletion.py`, `owners.py` | decision whether an object is garbage, and its deletion |
| `orphaning.py` | orphaning of the dependents of a deleted owner |
| `live_objects.py` | requests to the server |

Source: kube-controller-manager pkg/controller/garbagecollector (1.36).
"""

from sampan.controllers.garbage_collector.garbage_collector import GarbageCollector, set_up

__all__ = ["GarbageCollector", "set_up"]
