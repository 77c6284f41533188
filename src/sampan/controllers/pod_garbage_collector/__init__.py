"""The garbage collector of Pods: too many that have ended, those whose node is gone, those that nobody would delete."""

from sampan.controllers.pod_garbage_collector.collector import PodGarbageCollector, PodGarbageSettings, set_up

__all__ = ["PodGarbageCollector", "PodGarbageSettings", "set_up"]
