"""Eviction: a node under pressure stops Pods before the kernel kills their processes."""

from sampan.node.eviction.manager import EvictionManager
from sampan.node.eviction.meter import MachineMeter, Meter
from sampan.node.eviction.thresholds import EvictionPolicy, Threshold, eviction_thresholds

__all__ = ["EvictionManager", "EvictionPolicy", "MachineMeter", "Meter", "Threshold", "eviction_thresholds"]
