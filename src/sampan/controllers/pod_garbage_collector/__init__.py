"""The Pod garbage collector: deletes surplus ended Pods, Pods on missing nodes, and unscheduled deleted Pods."""

from sampan.controllers.pod_garbage_collector.collector import PodGarbageCollector, PodGarbageSettings, set_up

__all__ = ["PodGarbageCollector", "PodGarbageSettings", "set_up"]
