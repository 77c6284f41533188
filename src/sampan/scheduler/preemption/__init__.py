"""Preemption: the choice and eviction of Pods with lower priority, to make room for another Pod."""
